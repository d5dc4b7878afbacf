import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { contentOf, type SecretContent } from './file-content.ts';

/** A file of the workspace with its content, as it was read. */
export interface ReadFile extends SecretContent {
  readonly inode: number;
  readonly size: number;
  readonly changedMs: number;
  /** Whether it had several names. */
  readonly isShared: boolean;
  readonly readAtMs: number;
}

/** The files of one workspace that wait to be read, one after the other. */
export interface ReadQueue {
  add(path: string): void;
  delete(path: string): void;
  /** Resolves when no file waits, or the time is over: then reading goes on. */
  settle(withinMs: number): Promise<void>;
  /** How many files wait, with the one that is being read. */
  readonly size: number;
  close(): void;
}

/** Read last, since one can take as long as all others together. */
const LARGE_BYTES = 16 * 1024 * 1024;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Of a file that we may not read, its owner, the user of a run, could allow it. */
const UNREADABLE: SecretContent = { secret: 'content that cannot be read now', isPublic: false };

/** `onRead` gets null for a path at which there is no file any more. A path that was added again meanwhile is read again. */
export function createReadQueue(workspace: string, onRead: (path: string, file: ReadFile | null) => void): ReadQueue {
  const small = new Set<string>();
  const large = new Set<string>();
  const yielder = createYielder();
  let work: Promise<void> | null = null;
  let isClosed = false;

  async function readAll(): Promise<void> {
    for (let path = first(small, large); path !== undefined && !isClosed; path = first(small, large)) {
      const maxBytes = small.delete(path) ? LARGE_BYTES : Number.POSITIVE_INFINITY;
      large.delete(path);
      const file = await readOne(path, maxBytes);
      if (file === 'large') large.add(path);
      else if (!small.has(path)) onRead(path, file);
      if (yielder.isDue()) await yielder.pause();
    }
    work = null;
  }

  async function readOne(path: string, maxBytes: number): Promise<ReadFile | 'large' | null> {
    const readAtMs = Date.now();
    let fd: number;
    try {
      fd = openSync(`${workspace}/${path}`, FILE);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      const stat = statOf(`${workspace}/${path}`);
      return stat?.isFile() === true ? { ...identityOf(stat), readAtMs, ...UNREADABLE } : null;
    }
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) return null;
      if (stat.size > maxBytes) return 'large';
      return { ...identityOf(stat), readAtMs, ...(await contentOf({ fd, size: stat.size, path }, yielder)) };
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return { ...identityOf(fstatSync(fd)), readAtMs: 0, ...UNREADABLE };
    } finally {
      closeSync(fd);
    }
  }

  return {
    add: (path) => void small.add(path),
    delete(path) {
      small.delete(path);
      large.delete(path);
    },
    async settle(withinMs) {
      if (small.size + large.size === 0 && work === null) return;
      work ??= readAll();
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([work, over]);
      clearTimeout(timer);
    },
    get size() {
      return small.size + large.size + (work === null ? 0 : 1);
    },
    close() {
      isClosed = true;
    },
  };
}

function first(...sets: readonly ReadonlySet<string>[]): string | undefined {
  for (const set of sets) for (const each of set) return each;
  return undefined;
}

function identityOf({ ino, size, ctimeMs, nlink }: Stats): Pick<ReadFile, 'inode' | 'size' | 'changedMs' | 'isShared'> {
  return { inode: ino, size, changedMs: ctimeMs, isShared: nlink > 1 };
}
