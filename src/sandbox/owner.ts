import { isGone, pidsByVariable } from './proc.ts';

const NAME = 'TOOLWRIGHT_OWNER';

/** Every process of a sandbox carries the number of the process it belongs to, from its first moment on. */
export const OWNER: Readonly<Record<string, string>> = { [NAME]: String(process.pid) };

/**
 * Ends what a killed process left behind. There is hardly ever any: bubblewrap ends with its parent, but for the few
 * milliseconds in which it sets a run up.
 */
export function endOrphans(): void {
  for (const [pid, owner] of pidsByVariable(NAME)) {
    if (pid !== process.pid && isGone(Number(owner))) tryKill(pid);
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself, or belongs to somebody else.
  }
}
