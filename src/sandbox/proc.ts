import { readdirSync, readFileSync } from 'node:fs';

/** What one process of a tree uses. `cpuMs` and `writtenBytes` include the children it has waited for. */
export interface ProcessUse {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly writtenBytes: number;
}

export interface TreeUse extends ProcessUse {
  readonly processes: number;
}

const TICK_MS = 10;
const PAGE_BYTES = 4096;

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

/** Since a parent's figures hold those of the children it waited for, the sum over the living is the whole. */
export function useOf(pids: readonly number[]): TreeUse {
  let [cpuMs, memoryBytes, writtenBytes, processes] = [0, 0, 0, 0];
  for (const pid of pids) {
    const use = useOfProcess(pid);
    if (use === null) continue;
    processes++;
    cpuMs += use.cpuMs;
    memoryBytes += use.memoryBytes;
    writtenBytes += use.writtenBytes;
  }
  return { cpuMs, memoryBytes, writtenBytes, processes };
}

export function threadsOfMachine(): number {
  return Number(/\/(\d+)/.exec(readText('/proc/loadavg') ?? '')?.[1] ?? 0);
}

/** Gone, or dead and only not yet waited for. */
export function isGone(pid: number): boolean {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null || afterName(stat)[0] === 'Z';
}

function useOfProcess(pid: number): ProcessUse | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = afterName(stat);
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i] ?? 0), 0);
  const written = /^write_bytes: (\d+)/m.exec(readText(`/proc/${pid}/io`) ?? '')?.[1];
  return {
    cpuMs: ticks * TICK_MS,
    memoryBytes: privatePages(pid) * PAGE_BYTES,
    writtenBytes: Number(written ?? 0),
  };
}

/** Resident pages without those of files, which are shared. */
function privatePages(pid: number): number {
  const [, resident, shared] = (readText(`/proc/${pid}/statm`) ?? '').split(' ').map(Number);
  return Math.max(0, (resident ?? 0) - (shared ?? 0));
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
  for (const task of readFolder(`/proc/${pid}/task`)) {
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
  return readFolder('/proc').filter(isNumber).map(Number);
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

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
