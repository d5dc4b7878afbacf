import { closeSync, constants, openSync, readFileSync } from 'node:fs';

/** A place of the workspace, and what is mounted on it. */
export interface PlacedMount {
  readonly option: '--bind' | '--ro-bind';
  readonly source: string;
  readonly point: string;
}

/**
 * What the kernel says of these mounts if they are what they should be: where each begins in its file system, and where
 * it lies. Bubblewrap takes paths and follows links, and another run in the same workspace may have put one there since
 * it was looked at, to whatever this one must not reach. `folders` are where the sources are.
 */
export function mountLines(mounts: readonly PlacedMount[], folders: readonly string[]): string {
  const known = readMounts();
  const bases = folders.map((folder) => ({ folder: escaped(folder), on: mountOf(folder, known) }));
  return mounts.map(({ source, point }) => `${rootOf(escaped(source))} ${escaped(point)}\n`).join('');

  function rootOf(source: string): string {
    const on = bases.find(({ folder }) => isWithin(source, folder))?.on;
    if (on === undefined) throw new Error(`${source} is on a file system that is not known`);
    const nearest = known
      .filter(({ point }) => isWithin(point, on.point) && isWithin(source, point))
      .reduce((longest, each) => (each.point.length > longest.point.length ? each : longest), on);
    const rest = source.slice(nearest.point === '/' ? 0 : nearest.point.length);
    return nearest.root === '/' ? rest || '/' : `${nearest.root}${rest}`;
  }
}

interface KnownMount {
  readonly id: string;
  readonly root: string;
  readonly point: string;
}

function readMounts(): KnownMount[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [id = '', , , root = '', point = ''] = line.split(' ');
    return { id, root, point };
  });
}

/** By its number: several may lie on one another. */
function mountOf(folder: string, known: readonly KnownMount[]): KnownMount {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    const found = known.find((each) => each.id === id);
    if (found === undefined) throw new Error(`the file system of ${folder} is not known`);
    return found;
  } finally {
    closeSync(fd);
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** As the kernel writes a path between blanks. */
function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
