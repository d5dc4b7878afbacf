import {
  accessSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs';
import { opendir } from 'node:fs/promises';
import { openInside } from '../sandbox/inside.ts';
import { createSlices } from '../sandbox/slices.ts';

interface FolderEntries {
  readonly names: readonly string[];
  readonly entries: readonly Dirent[];
  /** Those whose names are no text: what they are read as may be the name of another entry. */
  readonly unnameable: readonly Unnameable[];
}

interface Unnameable {
  readonly entry: Dirent<Buffer>;
  /** Only nearly right. */
  readonly name: string;
  /** Its path. */
  readonly bytes: Buffer;
}

/** What bytes that are no text are read as. */
const NO_TEXT = '\uFFFD';

export interface Listed extends FolderEntries {
  readonly absolute: string;
  /** From before it was read. */
  readonly stat: Stats;
}

export interface FolderReader extends Disposable {
  /** Throws what the system throws, also where it may be listed but not searched. A promise for one that is large. */
  read(path: string): Listed | Promise<Listed>;
}

/** Most folders are read after others of the same parent. */
const MOST_PARENTS = 8;
/** Of the folder itself, which grows with the names in it: some ten thousand. */
const LARGE_BYTES = 512 * 1024;
/** The system says what is too long; this is where it begins to be worth asking. */
const LONG_PATH = 1_000;
const TYPED = { withFileTypes: true } as const;
const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Reads folders of the workspace and no others, whatever a run that goes on puts in their place or in that of those above. */
export function createFolderReader(workspace: string): FolderReader {
  const parents = new Map<string, number>();
  const uid = process.getuid?.();

  function parentOf(path: string): number {
    const parent = above(path);
    const known = parents.get(parent);
    if (known !== undefined) return known;
    // In a deep tree the one above it was read just before: to open all of them each time takes the square of the depth.
    const fd = parents.has(above(parent)) ? openBelow(parent) : openInside(workspace, parent);
    const [oldest] = parents.size < MOST_PARENTS ? [] : parents;
    if (oldest !== undefined) {
      closeSync(oldest[1]);
      parents.delete(oldest[0]);
    }
    parents.set(parent, fd);
    return fd;
  }

  function openBelow(path: string): number {
    if (path === '' || process.platform !== 'linux') return openInside(workspace, path);
    return openSync(`/proc/self/fd/${parentOf(path)}/${path.slice(path.lastIndexOf('/') + 1)}`, FLAGS);
  }

  return {
    read(path) {
      const absolute = join(workspace, path);
      // One that is too deep to be named could be opened from the one above, but not be mounted on.
      if (absolute.length > LONG_PATH) lstatSync(absolute);
      const fd = openBelow(path);
      let isLarge = false;
      try {
        const stat = fstatSync(fd);
        const at = process.platform === 'linux' ? `/proc/self/fd/${fd}` : absolute;
        if (stat.uid !== uid || (stat.mode & 0o100) === 0) accessSync(at, constants.X_OK);
        isLarge = stat.size > LARGE_BYTES;
        if (!isLarge) return { ...entriesOf(readdirSync(at, TYPED), at, absolute), stat, absolute };
        return entriesInBatches(at)
          .then((entries) => ({ ...entriesOf(entries, at, absolute), stat, absolute }))
          .finally(() => closeSync(fd));
      } finally {
        if (!isLarge) closeSync(fd);
      }
    },
    [Symbol.dispose]() {
      for (const fd of parents.values()) closeSync(fd);
      parents.clear();
    },
  };
}

/** To read all at once would keep everybody else waiting. */
async function entriesInBatches(folder: string): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  const slices = createSlices();
  for await (const entry of await opendir(folder, { bufferSize: 512 })) {
    entries.push(entry);
    if (entries.length % 64 === 0 && slices.isOver()) await slices.next();
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

function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function join(folder: string, path: string): string {
  return path === '' ? folder : `${folder}/${path}`;
}
