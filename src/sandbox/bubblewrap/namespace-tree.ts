import type { ChildProcess } from 'node:child_process';
import { readSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { errnoOf } from '../../host/errno.ts';
import { descendants, isDead, type ProcessSample, samplesOf, threadsOfMachine } from '../../host/proc.ts';
import { identify, identifyFirst, type ProcessIdentity } from '../../host/process-identity.ts';
import { tryKill } from '../../host/try-kill.ts';
import type { Limits, RunEnd } from '../../kernel/world/sandbox.ts';
import type { Cgroup } from '../limits/cgroup.ts';
import type { DiskGrowth } from '../limits/disk-growth.ts';
import { createTreeMemory } from '../limits/tree-memory.ts';
import { createTreeUsageCounter, type TreeUsageCounter } from '../limits/tree-usage.ts';
import type { ProcessTree } from '../run/supervise.ts';

/** Bubblewrap's report about a run, in lines of JSON. */
export interface BubblewrapStatus {
  /** The first process of the namespace, by its pid on the host. */
  readonly firstPid: number | null;
  /** Null unless the command was really started. */
  readonly exitCode: number | null;
}

export function readStatus(file: number): BubblewrapStatus {
  const bytes = Buffer.alloc(4096);
  const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
  return {
    firstPid: Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? 0) || null,
    exitCode: toNumber(/"exit-code": (\d+)/.exec(text)?.[1]),
  };
}

/** Reads everything that a pipe contains now. */
export function readNow(pipe: number): string {
  const bytes = Buffer.alloc(4096);
  try {
    return bytes.toString('latin1', 0, readSync(pipe, bytes, 0, bytes.length, null));
  } catch {
    // Empty, but a writer is still open.
    return '';
  }
}

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

export interface NamespaceTree extends ProcessTree {
  /** Lowers the priority of the run before the command begins: among a thousand equal processes this one would run once a second. */
  giveWay(): void;
  /** Call it after the end and before the cgroup is removed. */
  used(): { cpuMs: number | null; peakMemoryBytes: number | null; passed: RunEnd | null };
}

/**
 * With more processes, a run gets a smaller share of the processor: the kernel counts each session as one, whatever its
 * priority. A lower number would slow down two programs and a pipe for nothing.
 */
const CROWD = 16;

/**
 * The processes of a PID namespace. Killing the first one ends all the others, whatever they did to escape; its parent has
 * waited for it when it ends itself, so nothing is left after that. Before the first process is known, all processes are
 * one process group: killing only bubblewrap would leave a child that waits for it for ever. After its end a pid may be
 * reused by a process that is not part of the run.
 */
export function namespaceTree(given: {
  monitor: ChildProcess;
  status: number;
  cgroup: Cgroup | null;
  /** Watches the stage that it writes to, if any. */
  disk: DiskGrowth | null;
}): NamespaceTree {
  const { cgroup, disk } = given;
  const monitor = identifyChild(given.monitor);
  let known: ProcessIdentity | null = null;
  let [peakMemoryBytes, cpuMs] = [0, 0];
  let [sampled, isCrowd] = [false, false];
  let tally: TreeUsageCounter | null = null;
  const memory = cgroup === null ? createTreeMemory() : null;
  const quick = cgroup === null && process.getuid?.() === 0 ? createGrowth() : null;

  /** Bubblewrap waits for the first process and then ends at once: until then, its pid is not reused. */
  function isOver(): boolean {
    return hasExited(given.monitor) || isDead(monitor.pid);
  }

  function first(): ProcessIdentity | null {
    if (known !== null) return known;
    const { firstPid, exitCode } = readStatus(given.status);
    if (firstPid === null) return null;
    const seen = identify(firstPid);
    const found = isOver() ? identifyLeft(firstPid, exitCode) : seen;
    // Otherwise it could not be read, and may be the next time.
    if (isOver() || found.isRunning()) known = found;
    return found;
  }

  function isOurs(root: ProcessIdentity): boolean {
    return root.isRunning() || !isOver();
  }

  function yieldAs(crowd: boolean): void {
    if (crowd !== isCrowd) cgroup?.share(crowd ? 'least' : 'usual');
    isCrowd = crowd;
  }

  function killGroup(): void {
    if (!monitor.isReplaced()) tryKill(-monitor.pid, 'SIGKILL');
  }

  return {
    ...(quick !== null && { pauseMs: QUICK_MS }),
    check(limits) {
      const root = first();
      if (root === null || quick?.isCalm(limits.processes) || !isOurs(root)) return null;
      const pids = [root.pid, ...descendants(root.pid, limits.processes + 1)];
      // Before the processes are read: a fork bomb grows while it is measured.
      if (cgroup === null && pids.length >= limits.processes) return 'processes';
      yieldAs(pids.length > CROWD);
      const samples = samplesOf(pids);
      tally ??= createTreeUsageCounter(root.pid);
      const sum = tally.add(samples);
      if (cgroup === null && threadsOf(samples) > limits.processes + OUR_PROCESSES) return 'processes';
      const memoryBytes = memory?.of(samples, limits.memoryBytes) ?? 0;
      sampled = true;
      peakMemoryBytes = Math.max(peakMemoryBytes, memoryBytes);
      cpuMs = sum.cpuMs;
      const passed = passedLimit(limits, { ...sum, memoryBytes }, cgroup);
      if (passed !== null || disk === null) return passed;
      const living = samples.map(({ pid }) => pid);
      return disk.isOver(limits, living) ? 'write' : null;
    },
    giveWay() {
      const root = first();
      if (root !== null && isOurs(root))
        trySetPriority(root.pid, Math.max(getPriority(), quick === null ? LOW_PRIORITY : LOWEST_PRIORITY));
    },
    signal(name) {
      const root = first();
      if (root === null) return killGroup();
      for (const pid of isOurs(root) ? descendants(root.pid) : []) tryKill(pid, name);
    },
    kill() {
      // Ending needs processor time, too.
      cgroup?.share('usual');
      const root = first();
      if (root === null) return killGroup();
      if (isOurs(root)) killFirst(root.pid);
      if (!root.isRunning()) given.monitor.kill('SIGKILL');
    },
    isGone() {
      const root = first();
      return root === null ? monitor.isReplaced() || !groupExists(monitor.pid) : !root.isRunning();
    },
    used() {
      const use = cgroup?.use();
      return {
        cpuMs: use?.cpuMs ?? (sampled ? cpuMs : null),
        peakMemoryBytes: use?.peakMemoryBytes ?? (sampled ? peakMemoryBytes : null),
        passed:
          use === undefined ? null : use.memoryKills > 0 ? 'memory' : use.refusedProcesses > 0 ? 'processes' : null,
      };
    },
  };
}

/** The shell inside, and the subshell that becomes the command: they do not count as processes of the run. */
const OUR_PROCESSES = 2;

/** A thread takes as much of the machine as a process does, and control groups count them alike. */
function threadsOf(samples: readonly ProcessSample[]): number {
  return samples.reduce((sum, { threads }) => sum + threads, 0);
}

/** Bubblewrap reports an exit code once it has waited: then the pid is free. */
function identifyLeft(pid: number, exitCode: number | null): ProcessIdentity {
  return exitCode === null ? identifyFirst(pid) : identify(pid, null);
}

/** Until Node reports the exit of a child, its pid is not reused. */
function identifyChild(child: ChildProcess): ProcessIdentity {
  const { pid = 0 } = child;
  return hasExited(child) ? identify(pid, null) : identify(pid);
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function groupExists(group: number): boolean {
  if (group === 0) return false;
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

/** The lowest priority would never run beside other work; it is used where nothing else bounds a fork bomb. */
const [HIGHEST_PRIORITY, LOW_PRIORITY, LOWEST_PRIORITY] = [-20, 10, 19];

/** Kills the first process with the highest priority: among thousands of processes it might wait half a minute before it ends the others. */
function killFirst(pid: number): void {
  trySetPriority(pid, HIGHEST_PRIORITY);
  tryKill(pid, 'SIGKILL');
}

/** Ignores pid 0, a process that could not be started: the system would take it for this process. */
function trySetPriority(pid: number, priority: number): void {
  if (pid === 0) return;
  try {
    setPriority(pid, priority);
  } catch {
    // It has ended, or this is not permitted: then the system limits the number of processes.
  }
}

const QUICK_MS = 5;
const THOROUGH_MS = 100;

/**
 * Without a cgroup the kernel does not limit the processes of root, and a fork bomb makes thousands before a slow check of
 * the tree. So the number of all threads of the machine is checked often, and the tree only when that has grown.
 */
function createGrowth(): { isCalm(most: number): boolean } {
  const before = threadsOfMachine();
  let lookedAt = performance.now();
  return {
    isCalm(most) {
      const now = performance.now();
      if (now - lookedAt < THOROUGH_MS && threadsOfMachine() - before < most) return true;
      lookedAt = now;
      return false;
    },
  };
}

interface TreeUse {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly writtenBytes: number;
}

function passedLimit(limits: Limits, use: TreeUse, cgroup: Cgroup | null): RunEnd | null {
  const group = cgroup?.use();
  if (group !== undefined && group.memoryKills > 0) return 'memory';
  if (group !== undefined && group.refusedProcesses > 0) return 'processes';
  if ((group?.cpuMs ?? use.cpuMs) > limits.cpuMs) return 'cpu';
  if (use.writtenBytes > limits.writeBytes) return 'write';
  return cgroup === null && use.memoryBytes > limits.memoryBytes ? 'memory' : null;
}
