import { readFileSync } from 'node:fs';

/** When a process started, in the kernel's own count: a pid alone may belong to somebody else by now. */
export function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

export function isAlive({ pid, started }: { pid: number; started: string }): boolean {
  if (started !== '') return startOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
