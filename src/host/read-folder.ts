import { accessSync, constants, type Dirent, fstatSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { parentOf } from '../kernel/text/folders-above.ts';
import { createYielder } from '../kernel/yielding.ts';
import { BY_HANDLE, type Folder } from './folder.ts';
import { openInside } from './read-inside.ts';

interface FolderEntries {
  readonly names: readonly string[];
  readonly entries: readonly Dirent[];
  /** Entries whose names are not UTF-8: read as text, such a name may be that of another entry. */
  readonly unnameable: readonly UnnameableEntry[];
}

interface UnnameableEntry {
  readonly entry: Dirent<Buffer>;
  /** The name read as text, which is only nearly right. */
  readonly name: string;
  /** Its path. */
  readonly bytes: Buffer;
}

/** Stands for bytes that are not UTF-8. */
const NO_TEXT = '\uFFFD';

export interface FolderListing extends FolderEntries {
  readonly absolute: string;
  /** Of the folder, from before its entries were read. */
  readonly stat: Stats;
}

export interface FolderReader extends Disposable {
  /** Throws what the system throws, also for a folder that may be listed but not searched. A promise for a large one. */
  read(path: string): FolderListing | Promise<FolderListing>;
}

export interface FolderReaderOptions {
  /** Called with each folder before its entries are read: `at` is its path by the descriptor. */
  onOpen?(path: string, at: string, stat: Stats): void;
}

/** Parents that stay open: most folders are read after others of the same parent. */
const MAX_PARENTS = 8;
/** Size of the folder itself, which grows with the names in it: some ten thousand. */
const LARGE_BYTES = 512 * 1024;
/** The system says whether a path is too long; from here on it is worth asking. */
const LONG_PATH = 1_000;
const TYPED = { withFileTypes: true } as const;

/**
 * Reads folders of the workspace and no others, whatever a run that goes on puts in their place or in the place of the
 * folders above them.
 */
export function createFolderReader(workspace: string, options: FolderReaderOptions = {}): FolderReader {
  const parents = new Map<string, Folder>();
  const uid = process.getuid?.();

  function openParent(path: string): Folder {
    const parent = parentOf(path);
    const known = parents.get(parent);
    if (known !== undefined) return known;
    // In a deep tree the folder above was read just before: opening all of them each time takes the square of the depth.
    const opened = parents.has(parentOf(parent)) ? openBelow(parent) : openInside(workspace, parent);
    const [oldest] = parents.size < MAX_PARENTS ? [] : parents;
    if (oldest !== undefined) {
      oldest[1].close();
      parents.delete(oldest[0]);
    }
    parents.set(parent, opened);
    return opened;
  }

  function openBelow(path: string): Folder {
    // By path a parent that was opened before proves nothing: the walk begins at the top each time.
    if (path === '' || !BY_HANDLE) return openInside(workspace, path);
    return openParent(path).openChild(path.slice(path.lastIndexOf('/') + 1));
  }

  return {
    read(path) {
      const absolute = join(workspace, path);
      // A folder that is too deep to be named could be opened from the one above, but not be mounted on.
      if (absolute.length > LONG_PATH) lstatSync(absolute);
      const folder = openBelow(path);
      let isLarge = false;
      try {
        const stat = fstatSync(folder.fd);
        const at = folder.self;
        if (stat.uid !== uid || (stat.mode & 0o100) === 0) accessSync(at, constants.X_OK);
        isLarge = stat.size > LARGE_BYTES;
        options.onOpen?.(path, at, stat);
        if (!isLarge) return { ...entriesOf(readdirSync(at, TYPED), at, absolute), stat, absolute };
        return entriesInBatches(at)
          .then((entries) => ({ ...entriesOf(entries, at, absolute), stat, absolute }))
          .finally(() => folder.close());
      } finally {
        if (!isLarge) folder.close();
      }
    },
    [Symbol.dispose]() {
      for (const folder of parents.values()) folder.close();
      parents.clear();
    },
  };
}

/** Reading all at once would block the event loop. */
async function entriesInBatches(folder: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  const yielder = createYielder();
  for await (const entry of await opendir(folder, { bufferSize: 512 })) {
    entries.push(entry);
    if (entries.length % 64 === 0 && yielder.isDue()) await yielder.pause();
  }
  return entries;
}

function entriesOf(entries: readonly Dirent[], folder: string, absolute: string): FolderEntries {
  const names: string[] = [];
  let isOdd = false;
  for (const { name } of entries) {
    names.push(name);
    if (name.includes(NO_TEXT)) isOdd = true;
  }
  return isOdd ? entriesByBytes(folder, absolute) : { names, entries, unnameable: [] };
}

function entriesByBytes(folder: string, absolute: string): FolderEntries {
  const all = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  const unnameable = all
    .filter(({ name }) => !isText(name))
    .map((entry) => ({
      ...{ entry, name: entry.name.toString() },
      bytes: Buffer.concat([Buffer.from(`${absolute}/`), entry.name]),
    }));
  const entries = all
    .filter(({ name }) => isText(name))
    .map((entry) => Object.assign<Dirent<never>, { name: string }>(entry as Dirent<never>, { name: `${entry.name}` }));
  return { names: [...entries, ...unnameable].map(({ name }) => name), entries, unnameable };
}

/** Whether a name can be given as a string. */
export function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}

function join(folder: string, path: string): string {
  return path === '' ? folder : `${folder}/${path}`;
}
