import { pidsByVariable } from '../host/proc.ts';
import { OWN_PROCESS_ID, stateOfProcess } from '../host/process-identity.ts';
import { tryKill } from '../host/try-kill.ts';

const NAME = 'TOOLWRIGHT_OWNED_BY';

/** Every process of a sandbox carries the process it belongs to in its environment, from its first moment on. */
export const OWNER_ENV: Readonly<Record<string, string>> = { [NAME]: OWN_PROCESS_ID };

/**
 * Kills processes whose owner was killed. Bubblewrap leaves hardly any: it ends with its parent, except in the few
 * milliseconds in which it sets a run up.
 */
export function endOrphans(find: (name: string) => readonly [pid: number, owner: string][] = pidsByVariable): void {
  for (const [pid, owner] of find(NAME)) {
    if (pid !== process.pid && stateOfProcess(owner) === 'gone') tryKill(pid, 'SIGKILL');
  }
}
