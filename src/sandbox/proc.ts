import { readdirSync, readlinkSync, type Stats, statfsSync, statSync } from 'node:fs';
import { namesIn, readText } from './files.ts';

/** What one process uses now. `cpuMs` and `writtenBytes` include the children it has waited for. */
export interface ProcessSample {
  readonly pid: number;
  readonly parent: number;
  /** Tells a process from an earlier one of the same number. */
  readonly startTime: string;
  readonly cpuMs: number;
  /** Its own memory and what it shares, without pages of files on disk. */
  readonly memoryBytes: number;
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
 * Memory of a tree. Pages that several processes share are in the figures of each; only when the plain sum is above
 * `enough` is it worth the price of dividing them. Files in memory that no process has mapped are counted where they
 * are open; where a process hides what it has open, by what the machine's shared memory has grown since `sharedBefore`.
 */
export function memoryOf(samples: readonly ProcessSample[], enough: number, sharedBefore: number): number {
  const pids = samples.map(({ pid }) => pid);
  const hidden = pids.some(isOpaque) ? Math.max(0, sharedMemoryOfMachine() - sharedBefore) : 0;
  const seen = unnamedFiles(pids)
    .filter(({ inMemory }) => inMemory)
    .reduce((sum, { bytes }) => sum + bytes, 0);
  const unmapped = Math.max(hidden, seen);
  const plain = samples.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  if (plain + unmapped <= enough) return plain + unmapped;
  const divided = dividedSum(samples);
  if (divided + unmapped <= enough) return divided + unmapped;
  // A process that ends while the others are read leaves its share to them: only what two looks agree on counts.
  return unmapped + Math.min(divided, dividedSum(samples));
}

function dividedSum(samples: readonly ProcessSample[]): number {
  return samples.reduce((sum, { pid }) => sum + (dividedMemory(pid) ?? plainMemory(pid)), 0);
}

/** Files without a name that the processes hold open, each once. */
export function unnamedFiles(pids: readonly number[]): { dev: number; bytes: number; inMemory: boolean }[] {
  const found = new Map<string, { dev: number; bytes: number; inMemory: boolean }>();
  for (const pid of pids) {
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const target = readTarget(`/proc/${pid}/fd/${fd}`);
      if (target?.endsWith(' (deleted)') !== true) continue;
      const stat = statOf(`/proc/${pid}/fd/${fd}`);
      if (stat?.isFile() !== true) continue;
      const inMemory = target.startsWith('/memfd:');
      found.set(`${stat.dev}:${stat.ino}`, { dev: stat.dev, bytes: stat.blocks * 512, inMemory });
    }
  }
  return [...found.values()];
}

/** Whether a process keeps us from seeing what it holds open, as one does that was started from an unreadable program. */
export function isOpaque(pid: number): boolean {
  try {
    readdirSync(`/proc/${pid}/fd`);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
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
    memoryBytes: plainMemory(pid),
    threads: Number(fields[17] ?? 1),
    writtenBytes: Number(/^write_bytes: (\d+)/m.exec(readText(`/proc/${pid}/io`) ?? '')?.[1] ?? 0),
  };
}

/** What it has now: a process that is ending has given its memory back before it is gone. */
function plainMemory(pid: number): number {
  const status = readText(`/proc/${pid}/status`) ?? '';
  return kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem');
}

/** Each shared page divided by the number of processes that have it; null where that may not be read. */
function dividedMemory(pid: number): number | null {
  const rollup = readText(`/proc/${pid}/smaps_rollup`);
  if (rollup === null || !rollup.includes('Pss_Anon:')) return null;
  return kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem');
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

function readTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Another program may become one that we may not look into between two looks at it. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
