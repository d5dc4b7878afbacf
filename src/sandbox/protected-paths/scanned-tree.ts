import type { Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { statOf } from '../../host/files.ts';
import { createFolderReader, type FolderReader } from '../../host/read-folder.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { innerMounts } from '../bubblewrap/inner-mounts.ts';
import { createChangeEvents, type FolderChanges } from './change-events.ts';
import { type ContentIndex, createContentIndex } from './content-index.ts';
import type { JudgedEntries, NameJudge } from './judge-names.ts';
import { unwalkedTarget } from './symlink-targets.ts';

/** A workspace whose folders and files are known, and kept so by the events of their changes. */
export interface ScannedTree {
  readonly content: ContentIndex;
  /** Folders that the system does not allow to be watched. */
  readonly unwatched: number;
  /** Walks through what changed since the last time. `decided` tells whether people have decided about paths since. */
  walk(decided: number): Promise<WalkedTree>;
  close(): void;
}

export interface WalkedTree {
  readonly folders: ReadonlyMap<string, KnownFolder>;
  /** By their names. */
  readonly found: readonly ProtectedPath[];
  readonly stands: readonly string[];
}

/** A folder as it was read last. */
export interface KnownFolder extends JudgedEntries {
  readonly absolute: string;
  readonly changedMs: number;
  readonly inode: number;
  readonly device: number;
  readonly readAtMs: number;
  /** How often people had decided about paths by then. */
  readonly decided: number;
}

type Unread = 'gone' | 'unreadable' | 'failed';

/** A change within the clock's granularity after the read would not show, so such a folder is read again. */
const CLOCK_MS = 50;
const NONE: ReadonlySet<string> = new Set();

/** `stateDir` takes a file without a name. */
export function createScannedTree(workspace: string, stateDir: string, names: NameJudge): ScannedTree {
  const events = createChangeEvents(stateDir);
  const content = createContentIndex(workspace);
  let folders: ReadonlyMap<string, KnownFolder> = new Map();
  /** Where other file systems were mounted in it. */
  let mounts: readonly string[] = [];

  async function walk(decided: number): Promise<WalkedTree> {
    const isTold = await events.settle();
    const [before, after] = [folders, new Map<string, KnownFolder>()];
    const unsure = mountPoints();
    const found: ProtectedPath[] = [];
    const stands: string[] = [];
    const queue = [''];
    using reader = createFolderReader(workspace, { onOpen: events.watch });
    const yielder = createYielder();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (after.has(path)) continue;
      const known = before.get(path);
      const changes = events.take(path);
      const isFollowed = known !== undefined && isTold && !unsure.has(path) && events.isWatched(path, known.inode);
      const changed = isFollowed ? (changes?.names ?? NONE) : 'all';
      const read = isCurrent(known, { isFollowed, changes, path, decided })
        ? known
        : await readFolder(reader, path, decided);
      if (typeof read === 'string') {
        if (read !== 'gone') found.push({ path, kind: 'directory', access: 'hidden', rule: null, because: read });
        continue;
      }
      after.set(path, read);
      if (read !== known) await content.list(path, read.files, isSameFolder(read, known) ? changed : 'all');
      else await content.look(path, changed);
      if (!isSameFolder(read, known)) for (const each of read.below) unsure.add(each);
      for (const name of changes?.names ?? NONE) unsure.add(path === '' ? name : `${path}/${name}`);
      for (const each of read.found) found.push(each);
      for (const each of read.below) queue.push(each);
      for (const each of read.stands) stands.push(each);
      for (const each of read.leads) {
        // The host would enter it by the symlink's name, like any folder of the workspace.
        const target = unwalkedTarget(workspace, each);
        if (target !== null) queue.push(target);
        if (yielder.isDue()) await yielder.pause();
      }
      if (yielder.isDue()) await yielder.pause();
    }
    for (const path of before.keys()) {
      if (after.has(path)) continue;
      events.drop(path);
      content.forget(path);
    }
    folders = after;
    return { folders: after, found, stands };
  }

  function isCurrent(
    known: KnownFolder | undefined,
    { isFollowed, changes, path, decided }: FolderNews,
  ): known is KnownFolder {
    if (known === undefined || known.decided !== decided || changes?.isListChanged === true) return false;
    // No event tells that another folder stands under the path of the workspace.
    return isFollowed && path !== '' ? true : isAsItWas(known);
  }

  async function readFolder(reader: FolderReader, path: string, decided: number): Promise<KnownFolder | Unread> {
    try {
      const readAtMs = Date.now();
      const listed = await reader.read(path);
      const { stat, absolute } = listed;
      const entries = await names.judge(path, listed);
      return { absolute, ...entries, ...placeOf(stat), readAtMs, decided };
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      // A symlink took its place; or its path is too long, so that it can be neither mounted on nor reached by a path.
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(errno)) return 'gone';
      return ['EACCES', 'EPERM'].includes(errno) ? 'unreadable' : 'failed';
    }
  }

  /** Where other file systems are mounted now or were last: no event tells of that. */
  function mountPoints(): Set<string> {
    const now = innerMounts(workspace).map((point) => point.slice(workspace.length + 1));
    const points = new Set([...mounts, ...now]);
    mounts = now;
    return points;
  }

  return {
    content,
    get unwatched() {
      return events.refused;
    },
    walk,
    close() {
      events.close();
      content.close();
    },
  };
}

interface FolderNews {
  /** Whether all changes of its entries were told. */
  readonly isFollowed: boolean;
  readonly changes: FolderChanges | null;
  readonly path: string;
  readonly decided: number;
}

type FolderPlace = Pick<KnownFolder, 'changedMs' | 'inode' | 'device'>;

function placeOf({ ctimeMs, ino, dev }: Stats): FolderPlace {
  return { changedMs: ctimeMs, inode: ino, device: dev };
}

function isSameFolder(one: FolderPlace, other: FolderPlace | undefined): boolean {
  return one.inode === other?.inode && one.device === other.device;
}

function isAsItWas(known: KnownFolder): boolean {
  const stat = statOf(known.absolute);
  if (stat === undefined || !isSameFolder(known, placeOf(stat))) return false;
  return stat.ctimeMs === known.changedMs && stat.ctimeMs < known.readAtMs - CLOCK_MS;
}
