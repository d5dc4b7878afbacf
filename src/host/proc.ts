import { existsSync, statfsSync } from 'node:fs';
import { namesIn, readText } from '../sandbox/files.ts';

/** What one process uses now. `cpuMs` and `writtenBytes` include the children it has waited for. */
export interface ProcessSample {
  readonly pid: number;
  readonly parent: number;
  /** Tells a process from an earlier one of the same number. */
  readonly startTime: string;
  readonly cpuMs: number;
  /** Its own memory, what it shares and what it takes to find them, without pages of files on disk. */
  readonly memoryBytes: number;
  /** The part of it that it may share with others. */
  readonly sharedBytes: number;
  readonly threads: number;
  /** Zero where the process has made itself unreadable; the growth of the disk is watched as well. */
  readonly writtenBytes: number;
}

const TICK_MS = 10;

/**
 * Every process below `pid`, without `pid` itself; empty when it is gone. Stops at `most`: a tree may grow faster than
 * anybody can walk it.
 */
export function descendants(pid: number, most = 10_000): number[] {
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined && found.length < most; next = queue.pop()) {
    for (const child of childrenOf(next)) {
      found.push(child);
      queue.push(child);
    }
  }
  return found;
}

export function samplesOf(pids: readonly number[]): ProcessSample[] {
  return pids.map(sampleOf).filter((sample) => sample !== null);
}

/**
 * Shared memory of the whole machine that no folder of ours shows: files in memory without a name, and the private
 * temporary folders of runs. What others put into /dev/shm or a /tmp in memory can be seen, and is no run's.
 */
export function sharedMemoryOfMachine(): number {
  const inFolders = memoryFolders(readText('/proc/self/mountinfo') ?? '').map(usedBytes);
  const all = kilobytes(readText('/proc/meminfo') ?? '', 'Shmem');
  return all - inFolders.reduce((sum, bytes) => sum + bytes, 0);
}

/** One mount point of each file system in memory. What is mounted later hides what was at the same place. */
export function memoryFolders(mountinfo: string): string[] {
  const visible = new Map<string, { device: string; type: string }>();
  for (const line of mountinfo.split('\n')) {
    const [, , device = '', , place = '', ...more] = line.split(' ');
    visible.set(place, { device, type: more[more.indexOf('-') + 1] ?? '' });
  }
  const folders = [...visible].filter(([, { type }]) => type === 'tmpfs');
  return [...new Map(folders.map(([place, { device }]) => [device, unescaped(place)])).values()];
}

function unescaped(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}

function usedBytes(folder: string): number {
  try {
    const { bsize, blocks, bfree } = statfsSync(folder);
    return bsize * (blocks - bfree);
  } catch {
    return 0;
  }
}

/** Memory that the system itself holds and cannot give back, which is where what waits in sockets is. No program's own. */
export function kernelMemoryOfMachine(): number {
  const info = readText('/proc/meminfo') ?? '';
  // Pages that each processor keeps at hand are free, and counted nowhere as such.
  const atHand = (readText('/proc/zoneinfo') ?? '').matchAll(/^ +count: +(\d+)$/gm);
  const pages = [...atHand].reduce((sum, [, count]) => sum + Number(count), 0);
  const rest = kilobytes(info, 'MemTotal') - pages * PAGE_BYTES;
  return OF_PROGRAMS_AND_FILES.reduce((left, name) => left - kilobytes(info, name), rest);
}

/** The least there is; with larger ones, less is taken off. */
const PAGE_BYTES = 4096;

const OF_PROGRAMS_AND_FILES =
  'MemFree Buffers Cached SwapCached AnonPages PageTables SecPageTables KernelStack SReclaimable'.split(' ');

export function threadsOfMachine(): number {
  return Number(/\/(\d+)/.exec(readText('/proc/loadavg') ?? '')?.[1] ?? 0);
}

/** Gone, or dead and only not yet waited for. */
export function isGone(pid: number): boolean {
  const state = stateOf(pid);
  return state === null || state === 'Z';
}

/** Dead, and not yet waited for. */
export function isDead(pid: number): boolean {
  return stateOf(pid) === 'Z';
}

function stateOf(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null ? null : (afterName(stat)[0] ?? null);
}

/** When a process began, in ticks since the machine did; null when there is none. */
export function startTimeOf(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null ? null : (afterName(stat)[19] ?? null);
}

/** One process. The system gives the number of an ended one to the next that begins. */
export interface Identity {
  readonly pid: number;
  /** False also when it is dead and only not yet waited for. */
  isRunning(): boolean;
  /** Its number belongs to another process now, so nothing is left of it and its group. */
  isAnother(): boolean;
}

/** Of a process that is there now. */
export function identify(pid: number, startTime = startTimeOf(pid)): Identity {
  return {
    pid,
    isRunning() {
      const stat = afterName(readText(`/proc/${pid}/stat`) ?? '');
      return stat[19] === startTime && stat[0] !== 'Z';
    },
    isAnother: () => ![null, startTime].includes(startTimeOf(pid)),
  };
}

/** Of a process that may have ended: only what is the first of a PID namespace below ours can be that of a run. */
export function identifyFirst(pid: number): Identity {
  const numbers = /^NSpid:\t(.+)$/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1]?.split('\t') ?? [];
  return identify(pid, numbers.length > 1 && numbers.at(-1) === '1' ? startTimeOf(pid) : null);
}

function sampleOf(pid: number): ProcessSample | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = afterName(stat);
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i] ?? 0), 0);
  return {
    pid,
    parent: Number(fields[1] ?? 0),
    startTime: fields[19] ?? '',
    cpuMs: ticks * TICK_MS,
    ...plainMemory(pid),
    threads: Number(fields[17] ?? 1),
    writtenBytes: writtenBytes(fields[0] === 'Z' ? (survivorOf(pid) ?? pid) : pid),
  };
}

function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readText(`/proc/${pid}/io`) ?? '')?.[1] ?? 0);
}

/**
 * Of a process whose first thread has ended before the others, one of these: what they share is told under its number,
 * and no longer under that of the process. Null of any other process, and where all of them are ending.
 */
export function survivorOf(pid: number): number | null {
  return survivor(pid)?.thread ?? null;
}

/** With its status, since it may be gone before that is asked for again. */
function survivor(pid: number): { thread: number; status: string } | null {
  if (!isDead(pid)) return null;
  const seen = new Set([String(pid)]);
  let last = pid;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const fresh = namesIn(`/proc/${pid}/task`).filter((task) => !seen.has(task));
    // One that is ending starts no more.
    if (fresh.length === 0) return null;
    for (const task of fresh) {
      const status = readText(`/proc/${pid}/task/${task}/status`) ?? '';
      if (hasMemory(status)) return { thread: Number(task), status };
      last = Number(task);
      seen.add(task);
    }
  }
  // Each was gone when it was looked at, and another was there.
  return { thread: last, status: '' };
}

const MOST_ROUNDS = 32;

/** Whether it has given its memory back: then it is dead, or as good as that, but for other threads of it. */
export function isEnding(pid: number): boolean {
  const status = readText(`/proc/${pid}/status`);
  return status === null ? !existsSync(`/proc/${pid}`) : !hasMemory(status);
}

/** Whether it is still a thread of this process and has not begun to end. */
export function isSurvivor(pid: number, thread: number): boolean {
  return hasMemory(readText(`/proc/${pid}/task/${thread}/status`) ?? '');
}

function hasMemory(status: string): boolean {
  return status.includes('\nRssAnon:');
}

export type ProcessMemory = Pick<ProcessSample, 'memoryBytes' | 'sharedBytes'>;

/** What it has now: a process that is ending has given its memory back before it is gone. */
export function plainMemory(pid: number): ProcessMemory {
  const status = statusOf(pid);
  const sharedBytes = kilobytes(status, 'RssShmem');
  return { memoryBytes: kilobytes(status, 'RssAnon') + kilobytes(status, 'VmPTE') + sharedBytes, sharedBytes };
}

/** Each shared page divided by the number of processes that have it; null where that may not be read. */
export function dividedMemory(pid: number): ProcessMemory | null {
  const rollup = rollupOf(pid) ?? rollupOf(survivorOf(pid) ?? pid);
  if (rollup === null || !rollup.includes('Pss_Anon:')) return null;
  const tables = kilobytes(statusOf(pid), 'VmPTE');
  const sharedBytes = kilobytes(rollup, 'Pss_Shmem');
  return { memoryBytes: kilobytes(rollup, 'Pss_Anon') + tables + sharedBytes, sharedBytes };
}

function rollupOf(pid: number): string | null {
  return readText(`/proc/${pid}/smaps_rollup`);
}

function statusOf(pid: number): string {
  const status = readText(`/proc/${pid}/status`) ?? '';
  if (hasMemory(status)) return status;
  return survivor(pid)?.status ?? status;
}

function kilobytes(text: string, field: string): number {
  return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

/** The fields after the name, which is in parentheses and may hold anything; the first is the state. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function childrenOf(pid: number): number[] {
  const listed = readText(`/proc/${pid}/task/${pid}/children`);
  if (listed === null) return hasChildrenFiles() ? [] : childrenByScan(pid);
  let text = listed;
  // A thread's children are listed under the thread that started them.
  for (const task of namesIn(`/proc/${pid}/task`)) {
    if (task !== String(pid)) text += ` ${readText(`/proc/${pid}/task/${task}/children`) ?? ''}`;
  }
  return text.split(' ').filter(Boolean).map(Number);
}

let childrenFiles: boolean | undefined;

/** Some kernels are built without them. */
function hasChildrenFiles(): boolean {
  childrenFiles ??= readText(`/proc/${process.pid}/task/${process.pid}/children`) !== null;
  return childrenFiles;
}

function childrenByScan(pid: number): number[] {
  return allPids().filter((each) => afterName(readText(`/proc/${each}/stat`) ?? '')[1] === String(pid));
}

export function allPids(): number[] {
  return namesIn('/proc').filter(isNumber).map(Number);
}

/** Processes of ours whose environment holds `entry`, such as `TOOLWRIGHT_CALL=…`. */
export function pidsWithEnvironment(entry: string): number[] {
  return allPids().filter((pid) => {
    const environment = readText(`/proc/${pid}/environ`);
    return environment !== null && `\0${environment}\0`.includes(`\0${entry}\0`);
  });
}

/** Every process that has the variable, and its value. */
export function pidsByVariable(name: string): [pid: number, value: string][] {
  const pattern = new RegExp(`(?:^|\0)${name}=([^\0]*)`);
  return allPids().flatMap((pid): [number, string][] => {
    const value = pattern.exec(readText(`/proc/${pid}/environ`) ?? '')?.[1];
    return value === undefined ? [] : [[pid, value]];
  });
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}
