import {
  closeSync,
  constants,
  fsyncSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { copyOwnership, copySymlinkOwnership, type FileOwnership } from './copy-ownership.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
const CHUNK_BYTES = 256 * 1024;

/** Where a copy goes. */
export interface CopyTarget {
  readonly name: string;
  /** Left out: each file is synced. */
  readonly sync?: { file(fd: number): void };
}

const SYNC_EACH = { file: fsyncSync };

/**
 * Where a rename cannot go: to another file system. Links are copied as links, times are kept, owners as far as may be;
 * throws what the system throws.
 */
export function copyTree(
  from: Folder,
  name: string,
  to: Folder,
  { name: newName, sync = SYNC_EACH }: CopyTarget,
): void {
  const stat = from.stat(name);
  if (stat === null) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
  if (stat.isSymbolicLink()) {
    symlinkSync(from.readLink(name), to.at(newName));
    copySymlinkOwnership(to.at(newName), stat);
  } else if (stat.isFile()) copyFile(from.at(name), to.at(newName), { like: stat, times: stat, sync });
  else if (stat.isDirectory()) copyFolder(from, name, to, { newName, like: stat, sync });
  else throw Object.assign(new Error('special'), { code: 'ENXIO' });
}

function copyFolder(
  from: Folder,
  name: string,
  to: Folder,
  { newName, like, sync }: { newName: string; like: Stats; sync: Syncer },
): void {
  mkdirSync(to.at(newName), { mode: 0o700 });
  const [source, target] = [from.openChild(name), to.openChild(newName)];
  try {
    for (const entry of readdirSync(source.at(''))) copyTree(source, entry, target, { name: entry, sync });
    finishFolder(target, like, sync);
  } finally {
    source.close();
    target.close();
  }
}

export interface CopiedFile {
  /** Mode and owner that the copy gets. */
  readonly like: FileOwnership;
  readonly times: Pick<Stats, 'atime' | 'mtime'>;
  readonly sync: Syncer;
}

type Syncer = NonNullable<CopyTarget['sync']>;

/** Made once: a copy of a small file would mostly be the making of its buffer. */
let copyChunk: Buffer | undefined;

/** The target must not exist. */
export function copyFile(source: string, target: string, { like, times, sync }: CopiedFile): void {
  copyChunk ??= Buffer.allocUnsafe(CHUNK_BYTES);
  const chunk = copyChunk;
  const input = openSync(source, READ);
  try {
    const output = openSync(target, CREATE, 0o600);
    try {
      for (let read = readSync(input, chunk); read > 0; read = readSync(input, chunk))
        writeAll(output, chunk.subarray(0, read));
      copyOwnership(output, like);
      futimesSync(output, times.atime, times.mtime);
      sync.file(output);
    } finally {
      closeSync(output);
    }
  } finally {
    closeSync(input);
  }
}

/** Whether all that is left of a tree stands in the other place too, byte for byte. More may stand there. */
export function isCopied(from: Folder, name: string, to: Folder, newName: string): boolean {
  const [stat, copy] = [from.stat(name), to.stat(newName)];
  if (stat === null || copy === null || typeOf(stat) !== typeOf(copy)) return false;
  if (stat.isSymbolicLink()) return from.readLink(name) === to.readLink(newName);
  if (stat.isFile()) return stat.size === copy.size && hasSameBytes(from.at(name), to.at(newName));
  return stat.isDirectory() && isFolderCopied(from.openChild(name), to.openChild(newName));
}

function isFolderCopied(source: Folder, target: Folder): boolean {
  try {
    return readdirSync(source.at('')).every((entry) => isCopied(source, entry, target, entry));
  } finally {
    source.close();
    target.close();
  }
}

function hasSameBytes(one: string, other: string): boolean {
  const left = openSync(one, READ);
  try {
    const right = openSync(other, READ);
    try {
      const [chunk, beside] = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
      for (;;) {
        const read = readSync(left, chunk);
        if (!chunk.subarray(0, read).equals(beside.subarray(0, readSync(right, beside)))) return false;
        if (read === 0) return true;
      }
    } finally {
      closeSync(right);
    }
  } finally {
    closeSync(left);
  }
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/**
 * Names reach the disk with their folder. A handle of its own: the walk's is not open for this. A folder that may be
 * changed but not read cannot be opened for it, and what was changed in it is changed all the same.
 */
export function syncFolder(folder: Folder): void {
  let fd: number;
  try {
    fd = openSync(folder.at(''), FOLDER);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EACCES') throw thrown;
    return;
  }
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function finishFolder(folder: Folder, like: Stats, sync: Syncer): void {
  const fd = openSync(folder.at(''), FOLDER);
  try {
    copyOwnership(fd, like);
    futimesSync(fd, like.atime, like.mtime);
    sync.file(fd);
  } finally {
    closeSync(fd);
  }
}
