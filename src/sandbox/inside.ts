import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';

/** More than a person writes into a file of settings or a hook; what a run planted may be as large as the disk. */
const MOST_BYTES = 1024 * 1024;

/**
 * Reads a file of the workspace without following a link anywhere on the way. Null when that is not possible, and for
 * what is no plain file or is too large to be read into memory.
 */
export function readInside(workspace: string, path: string): Buffer | null {
  const content = inFolder(workspace, dirname(path), (folder) => {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(`${folder}/${basename(path)}`, flags);
    try {
      const stat = fstatSync(file);
      return stat.isFile() && stat.size <= MOST_BYTES ? [readFileSync(file)] : [];
    } finally {
      closeSync(file);
    }
  });
  return content[0] ?? null;
}

export function readTextInside(workspace: string, path: string): string | null {
  return readInside(workspace, path)?.toString('utf8') ?? null;
}

/** Calls `use` with a path that stays this very folder whatever happens to its name. Empty when it cannot be reached. */
export function inFolder<T>(workspace: string, path: string, use: (folder: string) => T[]): T[] {
  let fd: number | undefined;
  try {
    fd = openInside(workspace, path);
    return use(pathOf(fd, path === '.' || path === '' ? workspace : `${workspace}/${path}`));
  } catch {
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Opens a folder from one to the next, and none that is a link. Throws what the system throws. */
export function openInside(workspace: string, path: string): number {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let fd = openSync(workspace, flags);
  let at = workspace;
  for (const name of path.split('/').filter((each) => each !== '.' && each !== '')) {
    const above = fd;
    try {
      fd = openSync(`${pathOf(above, at)}/${name}`, flags);
    } finally {
      closeSync(above);
    }
    at = `${at}/${name}`;
  }
  return fd;
}

/** Where there are no names for open files, a folder on the way could be swapped after it was looked at. */
function pathOf(fd: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}` : path;
}

/** Stays the same when a file is written or renamed, and not when another one takes its name. */
export function identityOf(path: string): string | undefined {
  const stat = statOf(path);
  // Numbers of deleted files are used again; the time of birth tells.
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
}

/** Undefined when there is nothing, or nothing that we may look at. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
