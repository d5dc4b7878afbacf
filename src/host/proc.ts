import { existsSync, statfsSync } from 'node:fs';
import { namesIn, readText } from './files.ts';

/** The resources that one process uses now. `cpuMs` and `writtenBytes` include the children it has waited for. */
export interface ProcessSample {
  readonly pid: number;
  readonly parent: number;
  /** Tells a process from an earlier one of the same number. */
  readonly startTime: string;
  readonly cpuMs: number;
  /** Private memory, shared memory and page tables, without pages of files on disk. */
  readonly memoryBytes: number;
  /** The part of the memory that may be shared with other processes. */
  readonly sharedBytes: number;
  readonly threads: number;
  /** Zero where the process has made itself unreadable; the growth of the disk is watched as well. */
  readonly writtenBytes: number;
}

const TICK_MS = 10;

/**
 * Returns every process below `pid`, without `pid` itself; none when it is gone. Stops at `most`: a tree may grow faster
 * than it can be walked.
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
 * temporary folders of runs. Files of other programs in /dev/shm or in a /tmp in memory can be seen and are left out.
 */
export function sharedMemoryOfMachine(): number {
  const inFolders = memoryFolders(readText('/proc/self/mountinfo') ?? '').map(usedBytes);
  const all = kilobytes(readText('/proc/meminfo') ?? '', 'Shmem');
  return all - inFolders.reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns one mount point of each file system in memory. A later mount hides an earlier one at the same path. */
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

/** Memory that the kernel holds and cannot give back, such as data that waits in sockets. It belongs to no process. */
export function kernelMemoryOfMachine(): number {
  const info = readText('/proc/meminfo') ?? '';
  // Pages in the free lists of each processor are free, but are counted nowhere as free.
  const atHand = (readText('/proc/zoneinfo') ?? '').matchAll(/^ +count: +(\d+)$/gm);
  const pages = [...atHand].reduce((sum, [, count]) => sum + Number(count), 0);
  const rest = kilobytes(info, 'MemTotal') - pages * PAGE_BYTES;
  return OF_PROGRAMS_AND_FILES.reduce((left, name) => left - kilobytes(info, name), rest);
}

/** The smallest page size there is; with larger pages, too little is subtracted. */
const PAGE_BYTES = 4096;

const OF_PROGRAMS_AND_FILES =
  'MemFree Buffers Cached SwapCached AnonPages PageTables SecPageTables KernelStack SReclaimable'.split(' ');

export function threadsOfMachine(): number {
  return Number(/\/(\d+)/.exec(readText('/proc/loadavg') ?? '')?.[1] ?? 0);
}

/** Zombie and dead, as the kernel writes them. */
export const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x']);

/** Has ended, and its parent has not waited for it yet. */
export function isDead(pid: number): boolean {
  return ENDED_STATES.has(statFieldsOf(pid)?.[0] ?? '');
}

/** There is no such process, or it has ended and its parent has not waited for it yet. */
export function isGone(pid: number): boolean {
  const state = statFieldsOf(pid)?.[0];
  return state === undefined || ENDED_STATES.has(state);
}

/** The fields of `/proc/PID/stat` after the name; the first is the state. Null when there is no such process. */
export function statFieldsOf(pid: number): string[] | null {
  const stat = readText(`/proc/${pid}/stat`);
  // The name is in parentheses and may hold anything.
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function sampleOf(pid: number): ProcessSample | null {
  const fields = statFieldsOf(pid);
  if (fields === null) return null;
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
 * Returns a living thread of a process whose first thread has ended before the others: the kernel tells about their
 * shared memory under that thread, not under the process any more. Null for any other process, and when all threads end.
 */
export function survivorOf(pid: number): number | null {
  return survivor(pid)?.thread ?? null;
}

/** Returns the status with the thread, which may be gone before its status could be read again. */
function survivor(pid: number): { thread: number; status: string } | null {
  if (!isDead(pid)) return null;
  const seen = new Set([String(pid)]);
  let last = pid;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = namesIn(`/proc/${pid}/task`).filter((task) => !seen.has(task));
    // A process that is ending starts no more threads.
    if (fresh.length === 0) return null;
    for (const task of fresh) {
      const status = readText(`/proc/${pid}/task/${task}/status`) ?? '';
      if (hasMemory(status)) return { thread: Number(task), status };
      last = Number(task);
      seen.add(task);
    }
  }
  // Each thread was gone when it was looked at, and there was a new one.
  return { thread: last, status: '' };
}

const MAX_ROUNDS = 32;

/** Whether a process has given its memory back: except for other threads, it is dead or about to be. */
export function isEnding(pid: number): boolean {
  const status = readText(`/proc/${pid}/status`);
  return status === null ? !existsSync(`/proc/${pid}`) : !hasMemory(status);
}

/** Whether a thread of this process is there and has not begun to end. */
export function isSurvivor(pid: number, thread: number): boolean {
  return hasMemory(readText(`/proc/${pid}/task/${thread}/status`) ?? '');
}

function hasMemory(status: string): boolean {
  return status.includes('\nRssAnon:');
}

export type ProcessMemory = Pick<ProcessSample, 'memoryBytes' | 'sharedBytes'>;

/** The memory of a process now. A process that is ending gives its memory back before it is gone. */
export function plainMemory(pid: number): ProcessMemory {
  const status = statusOf(pid);
  const sharedBytes = kilobytes(status, 'RssShmem');
  return { memoryBytes: kilobytes(status, 'RssAnon') + kilobytes(status, 'VmPTE') + sharedBytes, sharedBytes };
}

/** The same with each shared page divided by the number of processes that have it; null where that may not be read. */
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

/** Some kernels are built without the `children` files. */
function hasChildrenFiles(): boolean {
  childrenFiles ??= readText(`/proc/${process.pid}/task/${process.pid}/children`) !== null;
  return childrenFiles;
}

function childrenByScan(pid: number): number[] {
  return allPids().filter((each) => statFieldsOf(each)?.[1] === String(pid));
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
