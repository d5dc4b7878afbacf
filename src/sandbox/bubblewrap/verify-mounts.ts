import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWithin } from '../toolchains.ts';
import { readStatus } from './namespace-tree.ts';

/** A place of the workspace, and what is mounted on it. */
export interface PlacedMount {
  readonly option: '--bind' | '--ro-bind';
  readonly source: string;
  readonly point: string;
}

/** The kernel's description of mounts that lie at their intended paths, and nowhere else. */
export interface Expectation {
  /** Of a mount that no other has: once it is there, all are. */
  readonly arrived: string;
  /** Of all that lie on the workspace, itself first. */
  readonly lines: readonly string[];
  /** Whether there can be no others: without file systems of the host in it. */
  readonly isAll: boolean;
  isInside(line: string): boolean;
}

/**
 * Bubblewrap takes paths and follows links, and another run in the same workspace may have put one there since it was looked
 * at, to whatever this one must not reach. `own` is a mount of this program's own folder.
 */
export function expectMounts(given: {
  workspace: string;
  folder: string;
  own: Pick<PlacedMount, 'source' | 'point'>;
  mounts: readonly PlacedMount[];
}): Expectation {
  const { workspace } = given;
  const known = readMounts('self');
  const bases = [given.folder, workspace].map((folder) => ({ folder: escaped(folder), on: mountOf(folder, known) }));
  const place = escaped(workspace);
  return {
    arrived: lineOf(given.own),
    lines: [{ source: workspace, point: workspace }, ...given.mounts].map(lineOf),
    isAll: !known.some(({ point }) => point !== place && isWithin(point, place)),
    isInside: (line) => isWithin(line.slice(line.indexOf(' ') + 1), place),
  };

  function lineOf({ source, point }: Pick<PlacedMount, 'source' | 'point'>): string {
    return `${rootOf(escaped(source))} ${escaped(point)}`;
  }

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

const LOOK_MS = 1;
/** A thousand mounts take some seconds. */
const LONGEST_SETUP_MS = 60_000;

export const MOVED =
  'Folders of the workspace were moved while the sandbox was set up, so the command did not run. Try it again when what moves them has ended.';
const UNSEEN =
  'What the sandbox mounted could not be looked at, so the command did not run. See that /proc can be read.';

/**
 * Bubblewrap waits when it has mounted everything. Returns why it must not begin; undefined where what it mounted is what was
 * meant, and for one that has ended by itself, which says elsewhere why.
 */
export async function whyAstray(
  monitor: ChildProcess,
  status: number,
  expected: Expectation,
): Promise<string | undefined> {
  const until = performance.now() + LONGEST_SETUP_MS;
  while (performance.now() < until) {
    const { firstPid } = readStatus(status);
    const found = firstPid === null ? undefined : isAsExpected(firstPid, expected);
    if (found !== undefined) return found ? undefined : MOVED;
    if (monitor.exitCode !== null || monitor.signalCode !== null) return undefined;
    await sleep(LOOK_MS);
  }
  return UNSEEN;
}

/** Whether the mounts of a process are as expected; undefined while they are being made, or when it has ended. */
function isAsExpected(pid: number, { arrived, lines, isAll, isInside }: Expectation): boolean | undefined {
  const found = mountsOf(pid).map(({ root, point }) => `${root} ${point}`);
  if (!found.includes(arrived)) return undefined;
  if (!isAll) return lines.every((line) => found.includes(line));
  const inside = found.filter(isInside).toSorted();
  return inside.length === lines.length && lines.toSorted().every((line, at) => line === inside[at]);
}

function mountsOf(pid: number): KnownMount[] {
  try {
    return readMounts(String(pid));
  } catch {
    return [];
  }
}

interface KnownMount {
  readonly id: string;
  readonly root: string;
  readonly point: string;
}

function readMounts(process: string): KnownMount[] {
  const lines = readFileSync(`/proc/${process}/mountinfo`, 'utf8').split('\n').filter(Boolean);
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

/** As the kernel writes a path between blanks. */
function escaped(path: string): string {
  return path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
