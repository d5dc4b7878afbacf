import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { FileInfo } from '../kernel/world/workspace.ts';
import { errnoOf } from './errno.ts';
import type { Folder } from './folder.ts';
import { shortPath } from './parse-path.ts';
import type { ResolvedPath } from './walk-path.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Up to here a file is read as a whole, hashed, and its lines counted. */
export const MAX_WHOLE_BYTES = 16 * 1024 * 1024;

export interface OpenFile {
  readonly fd: number;
  readonly stat: Stats;
}

/** Opens a regular file and proves it on the handle: a FIFO or a device is refused, never waited for. */
export function openFile(spot: ResolvedPath): Result<OpenFile> {
  const kind = notAFile(spot);
  if (kind !== undefined) return kind;
  const fd = openSync(spot.folder.at(spot.name), READ);
  const stat = fstatSync(fd);
  if (stat.isFile()) return ok({ fd, stat });
  closeSync(fd);
  return special(spot.path);
}

/** Undefined when a regular file is there. */
export function notAFile({ stat, path }: Pick<ResolvedPath, 'stat' | 'path'>): Result<never> | undefined {
  if (stat === null) return notFound(path);
  if (stat.isFile()) return undefined;
  if (stat.isDirectory())
    return fail('INVALID_PATH', `${shortPath(path) || '.'} is a folder, not a file.`, { folder: true });
  return special(path);
}

export function notFound(path: string): Result<never> {
  return fail('FILE_NOT_FOUND', `${shortPath(path)} was not found in the workspace.`, { path: shortPath(path) });
}

function special(path: string): Result<never> {
  return fail('INVALID_PATH', `${shortPath(path)} is a pipe, a socket, a device or a link, not a regular file.`, {
    path: shortPath(path),
  });
}

/** The whole content. A file that grows meanwhile gives what it had, up to the limit. */
export function readWhole({ fd, stat }: OpenFile, maxBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(stat.size, maxBytes));
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(fd, buffer, length, buffer.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, length);
}

/** The content of a file in a folder, up to the limit. Null when there is none, or it cannot be read. */
export function readEntry(folder: Folder, name: string, maxBytes: number): Buffer | null {
  try {
    const opened = openFile({ folder, name, path: folder.pathOf(name), stat: folder.stat(name), via: [], made: [] });
    if (!opened.ok) return null;
    try {
      return readWhole(opened.value, maxBytes);
    } finally {
      closeSync(opened.value.fd);
    }
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  }
}

/** The same of a path below a folder. No symlink on the way is followed. */
export function readBelow(top: Folder, path: string, maxBytes: number): Buffer | null {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const opened: Folder[] = [];
  try {
    for (const each of names) opened.push((opened.at(-1) ?? top).openChild(each));
    return readEntry(opened.at(-1) ?? top, name, maxBytes);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  } finally {
    for (const folder of opened) folder.close();
  }
}

export function infoOf(path: string, stat: Stats): FileInfo {
  return {
    path: path === '' ? '.' : path,
    type: stat.isDirectory() ? 'directory' : 'file',
    size: stat.size,
    modified: stat.mtime.toISOString(),
  };
}
