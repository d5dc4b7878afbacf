import { readFileSync, readlinkSync } from 'node:fs';

/** A process as others are told of it. */
export interface ProcessMark {
  readonly pid: number;
  readonly started: string;
  /** Where its pid counts: a PID namespace since one start of a machine. Left out by older versions. */
  readonly space?: string;
}

const SPACE = ownSpace();

export function ownMark(): Required<ProcessMark> {
  return { pid: process.pid, started: startOf(process.pid) ?? '', space: SPACE };
}

/** Of another container or machine: nobody here can see whether it lives. */
export function isElsewhere({ space = '' }: ProcessMark): boolean {
  return space !== '' && space !== SPACE;
}

/**
 * When a process started, in the kernel's own count: a pid alone may belong to somebody else by now. Null of one that has
 * ended, also while its parent has not asked for its end: in a container without an init nobody ever may.
 */
export function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return ENDED.has(fields[0] ?? '') ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Zombie and dead, as the kernel writes them. */
const ENDED = new Set(['Z', 'X', 'x']);

/** As far as it can be seen from here: ask `isElsewhere` where that matters. */
export function isAlive(mark: ProcessMark): boolean {
  if (isElsewhere(mark)) return false;
  const { pid, started } = mark;
  if (started !== '') return startOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Empty where the system has none, as macOS. */
function ownSpace(): string {
  try {
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
    return `${namespace}.${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}`;
  } catch {
    return '';
  }
}
