import { readFileSync } from 'node:fs';

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

export function isAlive({ pid, started }: { pid: number; started: string }): boolean {
  if (started !== '') return startOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
