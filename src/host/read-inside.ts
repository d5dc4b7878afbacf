import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Folder } from './folder.ts';
import { namesOf } from './parse-path.ts';

/** More than a person writes into a settings file or a hook; a file that a run planted may be as large as the disk. */
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a file of the workspace without following a symlink anywhere on the way. Null when that is not possible, and
 * for a file that is not regular or too large to be read into memory.
 */
function readInside(workspace: string, path: string): Buffer | null {
  const content = inFolder(workspace, dirname(path), (folder) => {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(`${folder}/${basename(path)}`, flags);
    try {
      const stat = fstatSync(file);
      return stat.isFile() && stat.size <= MAX_FILE_BYTES ? [readFileSync(file)] : [];
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
  let folder: Folder | undefined;
  try {
    folder = openInside(workspace, path);
    return use(folder.self);
  } catch {
    return [];
  } finally {
    folder?.close();
  }
}

/** Opens a folder of the workspace name by name, never through a symlink. Throws what the system throws. */
export function openInside(workspace: string, path: string): Folder {
  let folder = Folder.open(workspace, 'read');
  for (const name of namesOf(path)) {
    const parent = folder;
    try {
      folder = parent.openChild(name);
    } finally {
      parent.close();
    }
  }
  return folder;
}
