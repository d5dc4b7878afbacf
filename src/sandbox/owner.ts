import { createHash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { readText } from './files.ts';
import { isGone, pidsByVariable, startTimeOf } from '../host/proc.ts';
import { tryKill } from './try-kill.ts';

/** When a process began, where the system does not say it: macOS has no /proc. */
const NO_TIME = '0';

const MACHINE = machineId();
const BOOT = bootId();
const NAMESPACE = pidNamespace();

/**
 * Who something belongs to: a process by its number and the time it began, in a PID namespace, since the machine was
 * started, and on which machine. The number alone is used again, every container has a process 1, and several machines
 * may share a home.
 */
export const OWNER_ID = `${process.pid}-${startTimeOf(process.pid) ?? NO_TIME}-${NAMESPACE}-${BOOT}${MACHINE}`;
const ID = /^(\d+)-(\d+)-(\d+)-([0-9a-f]{8})([0-9a-f]{8})$/;
/** An id at the start of a name; those of earlier versions are shorter. */
export const OWNED_NAME = /^(\d+-\d+-\d+-[0-9a-f]+)-/;

const NAME = 'TOOLWRIGHT_OWNED_BY';

/** Every process of a sandbox carries the process it belongs to, from its first moment on. */
export const OWNER: Readonly<Record<string, string>> = { [NAME]: OWNER_ID };

/** `unknown` is one of another machine or container. */
export function stateOfOwner(id: string): 'runs' | 'gone' | 'unknown' {
  const [, pid, startTime, namespace, boot, machine] = ID.exec(id) ?? [];
  if (pid === undefined) return 'unknown';
  if (boot !== BOOT) return machine === MACHINE ? 'gone' : 'unknown';
  if (namespace !== NAMESPACE) return 'unknown';
  return isThere(Number(pid), startTime) ? 'runs' : 'gone';
}

export function isOwnerGone(id: string): boolean {
  return stateOfOwner(id) === 'gone';
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

function isThere(pid: number, startTime: string | undefined): boolean {
  if (startTime !== NO_TIME) return !isGone(pid) && startTimeOf(pid) === startTime;
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

/** Where the system has none, as macOS, the machine's. */
function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? MACHINE;
}

/** Its name too: containers of one image have the same id. */
function machineId(): string {
  const text = `${readText('/etc/machine-id') ?? ''}\0${hostname()}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
