import { readFileSync, readlinkSync } from 'node:fs';
import { isGone, pidsByVariable, startTimeOf } from './proc.ts';
import { tryKill } from './try-kill.ts';

/** When a process began, where the system does not say it: macOS has no /proc. */
const NO_TIME = '0';

/**
 * Who something on this machine belongs to: a process by its number and the time it began, in a PID namespace, since
 * the machine was started. The number alone is used again, and every container has a process 1.
 */
export const OWNER_ID = `${process.pid}-${startTimeOf(process.pid) ?? NO_TIME}-${pidNamespace()}-${bootId()}`;
const ID = /^(\d+)-(\d+)-(\d+)-([0-9a-f]+)$/;
/** An id at the start of a name. */
export const OWNED_NAME = /^(\d+-\d+-\d+-[0-9a-f]+)-/;

const NAME = 'TOOLWRIGHT_OWNED_BY';

/** Every process of a sandbox carries the process it belongs to, from its first moment on. */
export const OWNER: Readonly<Record<string, string>> = { [NAME]: OWNER_ID };

/** False also where it cannot be told, as for a process of another container. */
export function isOwnerGone(id: string): boolean {
  const [, pid, startTime, namespace, boot] = ID.exec(id) ?? [];
  if (pid === undefined) return false;
  if (boot !== bootId()) return true;
  if (namespace !== pidNamespace()) return false;
  if (startTime === NO_TIME) return !isThere(Number(pid));
  return isGone(Number(pid)) || startTimeOf(Number(pid)) !== startTime;
}

/**
 * Ends what a killed process left behind. Of bubblewrap there is hardly ever any: it ends with its parent, but for the
 * few milliseconds in which it sets a run up.
 */
export function endOrphans(find: (name: string) => readonly [pid: number, owner: string][] = pidsByVariable): void {
  for (const [pid, owner] of find(NAME)) {
    if (pid !== process.pid && isOwnerGone(owner)) tryKill(pid, 'SIGKILL');
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
  } catch {
    return '0';
  }
}
