import { hash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errnoOf } from './errno.ts';
import { readText } from './files.ts';
import { ENDED_STATES, statFieldsOf } from './proc.ts';

/** `unknown`: the process is in another container, on another machine or of another user, so nobody here can tell. */
export type ProcessState = 'runs' | 'gone' | 'unknown';

/** A process as journals and notes store it. */
export interface ProcessMark {
  readonly pid: number;
  /** Start time in the kernel's own count, since a pid is used again. Empty where the system has none, as macOS. */
  readonly started: string;
  /** PID namespace and boot id, `4026531836.1a2b3c4d`. Older versions left it out; empty where the system has none. */
  readonly space?: string;
}

/** Both stored formats, read. Fields that a format lacks are those of this machine. */
interface StoredProcess {
  readonly pid: number;
  readonly started: string;
  readonly namespace?: string | undefined;
  readonly boot?: string | undefined;
  readonly machine?: string;
}

/** Index of the start time among the fields of `/proc/PID/stat` that follow the name. */
const START_TIME = 19;
/** The start time in an id where the system has none. */
const NO_TIME = '0';

const MACHINE = machineId();
const NAMESPACE = pidNamespace();
const BOOT = readText('/proc/sys/kernel/random/boot_id')?.slice(0, 8);
const STARTED = startTimeOf(process.pid) ?? '';

/**
 * This process in the names of its files and in the environment of its children: pid, start time, PID namespace, boot
 * and machine. A pid alone is used again, every container has a process 1, and several machines may share a home.
 */
export const OWN_PROCESS_ID = `${process.pid}-${STARTED || NO_TIME}-${NAMESPACE ?? '0'}-${BOOT ?? MACHINE}${MACHINE}`;
const ID = /^(\d+)-(\d+)-(\d+)-([0-9a-f]{8})([0-9a-f]{8})$/;
/** A name that begins with a process id; ids of earlier versions are shorter. */
export const OWNED_NAME = /^(\d+-\d+-\d+-[0-9a-f]+)-/;

/** This process as journals and notes store it. */
export const OWN_MARK: Required<ProcessMark> = {
  pid: process.pid,
  started: STARTED,
  space: NAMESPACE === undefined || BOOT === undefined ? '' : `${NAMESPACE}.${BOOT}`,
};

/** Takes a process id or a mark. A process that has ended counts as gone before its parent has waited for it. */
export function stateOfProcess(stored: string | ProcessMark): ProcessState {
  const parsed = typeof stored === 'string' ? parseId(stored) : parseMark(stored);
  if (parsed === undefined) return 'unknown';
  const { pid, started, namespace, boot, machine } = parsed;
  // Every process of this machine ended when the machine was started again.
  if (boot !== undefined && boot !== (BOOT ?? MACHINE)) return machine === MACHINE ? 'gone' : 'unknown';
  if (namespace !== undefined && namespace !== (NAMESPACE ?? '0')) return 'unknown';
  if (started === '') return stateByPid(pid);
  return identify(pid, started).isRunning() ? 'runs' : 'gone';
}

function parseId(id: string): StoredProcess | undefined {
  const [, pid, started = '', namespace, boot, machine = ''] = ID.exec(id) ?? [];
  if (pid === undefined) return undefined;
  return { pid: Number(pid), started: started === NO_TIME ? '' : started, namespace, boot, machine };
}

function parseMark({ pid, started, space = '' }: ProcessMark): StoredProcess {
  const [namespace, boot] = space === '' ? [] : space.split('.');
  return { pid, started, namespace, boot };
}

function stateByPid(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
    return 'runs';
  } catch (error) {
    return errnoOf(error) === 'EPERM' ? 'unknown' : 'gone';
  }
}

/** One process of this machine. The system gives the pid of an ended process to a later one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** False from its end on, also before its parent has waited for it. */
  isRunning(): boolean;
  /** True when its pid belongs to another process, so that nothing is left of it and its group. */
  isReplaced(): boolean;
}

/** Identifies the process that has this pid now, or had it from `startTime` on. Null stands for one that has ended. */
export function identify(pid: number, startTime: string | null = startTimeOf(pid)): ProcessIdentity {
  return {
    pid,
    isRunning() {
      const fields = statFieldsOf(pid) ?? [];
      return fields[START_TIME] === startTime && !ENDED_STATES.has(fields[0] ?? '');
    },
    isReplaced: () => ![null, startTime].includes(startTimeOf(pid)),
  };
}

/** Identifies a process that may have ended: the first of a run is the first of a PID namespace below ours. */
export function identifyFirst(pid: number): ProcessIdentity {
  const numbers = /^NSpid:\t(.+)$/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1]?.split('\t') ?? [];
  return identify(pid, numbers.length > 1 && numbers.at(-1) === '1' ? startTimeOf(pid) : null);
}

/** In ticks since the machine was started; null when there is no such process. */
function startTimeOf(pid: number): string | null {
  return statFieldsOf(pid)?.[START_TIME] ?? null;
}

function pidNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

/** Includes the host name: containers of one image have the same machine id. */
function machineId(): string {
  const text = `${readText('/etc/machine-id') ?? ''}\0${hostname()}`;
  return hash('sha256', text, 'hex').slice(0, 8);
}
