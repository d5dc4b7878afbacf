import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Observation } from './attack.ts';

/** Null when the assert holds, otherwise the deviation in words. */
export type AssertFinding = string | null;

/** State taken before the attack, to compare with afterwards. */
export interface SystemSnapshot {
  readonly hashes: ReadonlyMap<string, string>;
  readonly rss: number;
  readonly uncaught: number;
  /** Time in which work on this machine has waited for a processor, since it was started. */
  readonly stalledMs: number;
}

/** Uncaught errors: outside a test runner each would have ended the process. */
let uncaught = 0;
process.on('uncaughtExceptionMonitor', () => {
  uncaught++;
});
process.on('unhandledRejection', () => {
  uncaught++;
});

export function takeSnapshot(asserts: readonly string[]): SystemSnapshot {
  const paths = asserts.filter((each) => each.startsWith('same:')).map((each) => each.slice(5));
  const missing = paths.find((path) => !exists(path));
  if (missing !== undefined) throw new Error(`There is no ${missing} before the attack that could stay the same.`);
  return {
    hashes: new Map(paths.map((path) => [path, treeHash(path)])),
    rss: memoryInUse(),
    uncaught,
    stalledMs: stalledMs(),
  };
}

/** Checks an assert that a machine can check. Undefined for the others, such as `text:`. */
export function checkAssert(assertion: string, seen: Observation, before: SystemSnapshot): AssertFinding | undefined {
  const [kind = ''] = assertion.split(':');
  const rest = assertion.slice(kind.length + 1);
  switch (kind) {
    case 'absent':
      return exists(rest) ? `${rest} exists` : null;
    case 'exists':
      return exists(rest) ? null : `${rest} does not exist`;
    case 'same':
      return treeHash(rest) === before.hashes.get(rest) ? null : `${rest} has changed`;
    case 'eq':
      return equals(rest);
    case 'no-leak':
      return seen.text.includes(rest) ? `${rest} was shown` : null;
    case 'says':
      return seen.text.includes(rest) ? null : `it says: ${seen.text.slice(0, 300)}`;
    case 'fails':
      return seen.failed === undefined || seen.failed.includes(rest) ? null : `it failed otherwise: ${seen.failed}`;
    case 'within':
      return seen.durationMs <= within(rest, seen) + stalledMs() - before.stalledMs
        ? null
        : `it took ${Math.round(seen.durationMs)} ms`;
    case 'no-dial': {
      if (seen.dialled === undefined) return undefined;
      const reached = seen.dialled.find((each) => rest === '*' || each === rest);
      return reached === undefined ? null : `${reached} was dialled`;
    }
    case 'rss<': {
      const grown = (memoryInUse() - before.rss) / (1024 * 1024);
      return grown < Number(rest) ? null : `memory grew by ${Math.round(grown)} MB`;
    }
    case 'no-proc':
      return markedProcesses(rest).length === 0 ? null : `processes are left: ${markedProcesses(rest).join(', ')}`;
    case 'alive':
      if (uncaught > before.uncaught) return 'an error that nobody caught would have ended the process';
      return seen.answersAfter === false ? 'the next call was not answered' : null;
    default:
      return undefined;
  }
}

/**
 * Garbage is collected first: when that was done last is chance. Buffers are freed by another thread, which a busy machine holds up; a second
 * collection waits for it.
 */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().rss;
}

/** A busy machine is no finding: its time without a free processor does not count. 0 where the kernel does not tell. */
function stalledMs(): number {
  const micros = /^some .*total=(\d+)$/m.exec(read('/proc/pressure/cpu'))?.[1] ?? '0';
  return Number(micros) / 1000;
}

/** Milliseconds, or `configured total deadline + 1 s`. */
function within(rest: string, { deadlineMs = Number.NaN }: Observation): number {
  const more = /deadline \+ (\d+) s/.exec(rest)?.[1];
  return more === undefined ? Number.parseInt(rest, 10) : deadlineMs + Number(more) * 1000;
}

/** Processes other than this one whose environment holds the mark. */
export function markedProcesses(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(mark));
}

/** A digest of names, modes and contents. */
export function treeHash(path: string): string {
  const hash = createHash('sha256');
  const visit = (each: string): void => {
    const stat = lstatSync(each, { throwIfNoEntry: false });
    if (stat === undefined) return;
    hash.update(`${each}\0${stat.mode}\0`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(each));
    else if (stat.isDirectory()) for (const name of readdirSync(each).sort()) visit(`${each}/${name}`);
    else if (stat.isFile()) hash.update(readFileSync(each));
  };
  visit(path);
  return hash.digest('hex');
}

function equals(rest: string): AssertFinding {
  const at = rest.lastIndexOf(':');
  const [path, expected] = [rest.slice(0, at), rest.slice(at + 1)];
  return exists(path) && readFileSync(path).toString('base64') === expected ? null : `${path} has other bytes`;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
