import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';

/**
 * A folder that stays open, so that its entries are reached at any depth and by any name. Names are strings of bytes
 * (latin1): a name need not be text.
 */
export interface OpenFolder extends Disposable {
  readonly fd: number;
  /** Empty for a folder that was deleted. */
  names(): string[];
  at(name: string): string | Buffer;
  /** Undefined when there is nothing. */
  stat(name: string): Stats | undefined;
  /** Null when it is no folder any more, or is not ours and may not be opened. */
  open(name: string): OpenFolder | null;
  /** A descriptor for reading a file, or null. */
  openFile(name: string): number | null;
  close(): void;
}

/** The mode of an entry of ours may be changed for a moment, to read what its mode forbids; a workspace stays as it is. */
export type FolderOwner = 'ours' | 'theirs';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Throws what the system throws. The descriptor belongs to the folder from now on. */
export function openFolder(path: string, owner: FolderOwner): OpenFolder {
  return folderOf({ fd: openSync(path, FOLDER), lock() {} }, owner);
}

/** Stands for a folder that is not there. */
export const NO_FOLDER: OpenFolder = {
  fd: -1,
  names: () => [],
  at: (name) => `/proc/self/fd/-1/${name}`,
  stat: () => undefined,
  open: () => null,
  openFile: () => null,
  close() {},
  [Symbol.dispose]() {},
};

/** A descriptor, and the way back to the mode that forbade to open it. */
interface OpenedEntry {
  readonly fd: number;
  lock(): void;
}

function folderOf({ fd, lock }: OpenedEntry, owner: FolderOwner): OpenFolder {
  const self = `/proc/self/fd/${fd}`;

  function at(name: string): string | Buffer {
    const full = `${self}/${name}`;
    return isAscii(name) ? full : Buffer.from(full, 'latin1');
  }

  return {
    fd,
    at,
    names: () => unlessGone(() => readdirSync(self, { encoding: 'latin1' }), []),
    stat: (name) => unlessGone(() => lstatSync(at(name)), undefined),
    open(name) {
      const opened = unlessGone(() => openEntry(at(name), FOLDER, owner), null);
      return opened === null ? null : folderOf(opened, owner);
    },
    openFile(name) {
      const opened = orElse(() => openEntry(at(name), FILE, owner), null);
      opened?.lock();
      return opened?.fd ?? null;
    },
    close,
    [Symbol.dispose]: close,
  };

  function close(): void {
    closeSync(fd);
    // Not before: its entries are reached by a path, which asks for permission again.
    lock();
  }
}

/** Null for an entry that is not ours and may not be opened. */
function openEntry(path: string | Buffer, flags: number, owner: FolderOwner): OpenedEntry | null {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
    return owner === 'ours' ? openAnyway(path, flags) : null;
  }
  if (owner === 'theirs' || flags !== FOLDER || isSearchable(fstatSync(fd))) return { fd, lock() {} };
  closeSync(fd);
  return openAnyway(path, flags);
}

/** A folder can be opened and its names read while none of its entries can be looked at. */
function isSearchable({ mode, uid }: Stats): boolean {
  return (mode & 0o100) !== 0 || process.geteuid?.() === 0 || uid !== process.geteuid?.();
}

function openAnyway(path: string | Buffer, flags: number): OpenedEntry {
  const { mode } = lstatSync(path);
  const lock = (): void => orElse(() => chmodSync(path, mode & 0o7777), undefined);
  chmodSync(path, (mode & 0o7777) | 0o700);
  try {
    return { fd: openSync(path, flags), lock };
  } catch (error) {
    lock();
    throw error;
  }
}

/** A name as text, and whether that is exact. */
export function nameAsText(name: string): { readonly text: string; readonly isExact: boolean } {
  if (isAscii(name)) return { text: name, isExact: true };
  const bytes = Buffer.from(name, 'latin1');
  const text = bytes.toString();
  return { text, isExact: Buffer.from(text).equals(bytes) };
}

function isAscii(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
  return /^[\x00-\x7f]*$/.test(name);
}

/** Failures of the system become `otherwise`; bugs are thrown. */
function orElse<T, U>(step: () => T, otherwise: U): T | U {
  try {
    return step();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return otherwise;
  }
}

/** A folder that cannot be read now must not look like an empty one. */
function unlessGone<T, U>(step: () => T, otherwise: U): T | U {
  try {
    return step();
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')) throw error;
    return otherwise;
  }
}
