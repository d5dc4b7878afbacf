import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { errnoFailure, errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { copyOwnership } from './copy-ownership.ts';
import { syncFolder, writeAll } from './copy-tree.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const LOOK = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Longer than a tick of any file system's clock. */
const COARSE_MS = 50;
/** Up to here syncing in this turn of the loop is quicker than leaving it. */
const SYNC_BYTES = 256 * 1024;
/** Up to here content is compared once more just before it is replaced. */
const COMPARED_BYTES = 1024 * 1024;
const syncLater = promisify(fsync);

/** A file that is about to be replaced; null bytes for one that is too large to read. */
export interface CurrentFile {
  readonly stat: Stats;
  readonly bytes: Buffer | null;
}

interface NewFile {
  readonly temp: string;
  readonly bytes: Buffer;
  readonly mode: number | undefined;
  /** The old file by another name, if it is kept like that. */
  readonly image: string | null;
}

/** temporary file → sync → rename → sync of the folder. Until the rename, the old content stands untouched. */
export async function replaceFile(
  { folder, name, path }: ResolvedPath,
  file: NewFile,
  now: CurrentFile | null,
): Promise<Result<void>> {
  const { temp, bytes, mode } = file;
  let there = false;
  let old: number | null = null;
  try {
    const fd = openSync(folder.at(temp), CREATE, now === null ? 0o666 : 0o600);
    there = true;
    try {
      writeAll(fd, bytes);
      if (now !== null) copyOwnership(fd, now.stat);
      else if (mode !== undefined) fchmodSync(fd, mode & 0o777);
      failpoint('workspace.written');
      if (bytes.length <= SYNC_BYTES) fsyncSync(fd);
      else await syncLater(fd);
    } finally {
      closeSync(fd);
    }
    if (now !== null) old = openSync(folder.at(name), LOOK);
    if (!isStill(folder, name, now, old)) {
      unlinkSync(folder.at(temp));
      return overtaken(path);
    }
    failpoint('workspace.looked');
    if (now === null) claim(folder, temp, name);
    else renameSync(folder.at(temp), folder.at(name));
    there = false;
    failpoint('workspace.renamed');
    if (old !== null && now !== null && wasWritten(old, now)) {
      putBack(folder, name, { old, now, file });
      return overtaken(path);
    }
    syncFolder(folder);
    return ok(undefined);
  } catch (thrown) {
    if (there) rmSync(folder.at(temp), { force: true });
    if (errnoOf(thrown) === 'EEXIST') {
      return fail(
        'CONFLICT',
        `${shortPath(path)} was made by somebody else just now; nothing was changed. Read it first.`,
      );
    }
    return errnoFailure(thrown, path);
  } finally {
    if (old !== null) closeSync(old);
  }
}

function overtaken(path: string): Result<never> {
  return fail(
    'CONFLICT',
    `${shortPath(path)} was changed by somebody else just now; nothing was changed. Read it again.`,
  );
}

/** Gives a file its name only if the name is free: a rename would replace a file that appeared meanwhile. */
function claim(folder: Folder, temp: string, name: string): void {
  try {
    linkSync(folder.at(temp), folder.at(name));
    unlinkSync(folder.at(temp));
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'EMLINK') throw thrown;
    if (folder.stat(name) !== null) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
    renameSync(folder.at(temp), folder.at(name));
  }
}

/**
 * Whether the name still stands for what was read. By content where that is cheap, since a timestamp can lie; the very
 * last look is at the inode alone, because nothing here can compare and rename in one step.
 */
function isStill(folder: Folder, name: string, now: CurrentFile | null, old: number | null): boolean {
  if (!folder.isInPlace()) return false;
  if (
    old !== null &&
    now !== null &&
    now.bytes !== null &&
    now.bytes.length <= COMPARED_BYTES &&
    !holds(old, fstatSync(old), now.bytes)
  )
    return false;
  const stat = folder.stat(name);
  if (now === null || stat === null) return (now === null) === (stat === null);
  return stat.ino === now.stat.ino && stat.size === now.stat.size && stat.mtimeMs === now.stat.mtimeMs;
}

function holds(fd: number, stat: Stats, bytes: Buffer): boolean {
  return stat.size === bytes.length && readWhole({ fd, stat }, stat.size).equals(bytes);
}

/** After the rename: whether somebody wrote into the old file after the last look. A clock this coarse hides the latest. */
function wasWritten(old: number, { stat, bytes }: CurrentFile): boolean {
  const latest = fstatSync(old);
  if (latest.size !== stat.size || latest.mtimeMs !== stat.mtimeMs) return true;
  return Date.now() - latest.mtimeMs < COARSE_MS && bytes !== null && !holds(old, latest, bytes);
}

/** Restores the other writer's file: the file itself where it has a second name, else a copy. */
function putBack(
  folder: Folder,
  name: string,
  { old, now, file }: { old: number; now: CurrentFile; file: NewFile },
): void {
  const { temp, image } = file;
  if (image !== null && statSync(image).ino === now.stat.ino) renameSync(image, folder.at(temp));
  else {
    const fd = openSync(folder.at(temp), CREATE, 0o600);
    try {
      writeAll(fd, readWhole({ fd: old, stat: fstatSync(old) }, Number.MAX_SAFE_INTEGER));
      copyOwnership(fd, now.stat);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
  renameSync(folder.at(temp), folder.at(name));
  syncFolder(folder);
}
