import { closeSync, constants, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Reads a file of the workspace without following a link anywhere on the way; null when that is not possible. */
export function readInside(workspace: string, path: string): string | null {
  const text = inFolder(workspace, dirname(path), (folder) => {
    const file = openSync(
      `${folder}/${basename(path)}`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      return [readFileSync(file, 'utf8')];
    } finally {
      closeSync(file);
    }
  });
  return text[0] ?? null;
}

/** Calls `use` with a path that stays this very folder whatever happens to its name. Empty when it cannot be reached. */
export function inFolder(workspace: string, path: string, use: (folder: string) => string[]): string[] {
  const open: number[] = [];
  try {
    open.push(openSync(workspace, constants.O_RDONLY | constants.O_DIRECTORY));
    for (const name of path.split('/').filter((each) => each !== '.' && each !== '')) {
      const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
      open.push(openSync(`/proc/self/fd/${open.at(-1)}/${name}`, flags));
    }
    return use(`/proc/self/fd/${open.at(-1)}`);
  } catch {
    return [];
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

/** Undefined when there is nothing, or nothing that we may look at. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
