import type { ChildProcess } from 'node:child_process';
import { readSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Limits, RunEnd } from '../../kernel/world/sandbox.ts';
import type { Cgroup } from '../limits/cgroup.ts';
import { createDiskGrowth } from '../limits/disk-growth.ts';
import type { Exposure } from '../protected-paths/replaced-masks.ts';
import {
  descendants,
  type Identity,
  identify,
  identifyFirst,
  isDead,
  type ProcessSample,
  samplesOf,
  threadsOfMachine,
} from '../../host/proc.ts';
import type { Tree } from '../run/supervise.ts';
import { createTally, type Tally } from '../limits/tree-usage.ts';
import { createTreeMemory } from '../limits/tree-memory.ts';
import { tryKill } from '../try-kill.ts';

/** What bubblewrap tells about a run, in lines of JSON that it writes into a file. */
export interface BubblewrapStatus {
  /** The first process of the namespace, by its number on the host. */
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

/** What there is to read from a pipe now. */
export function readNow(pipe: number): string {
  const bytes = Buffer.alloc(4096);
  try {
    return bytes.toString('latin1', 0, readSync(pipe, bytes, 0, bytes.length, null));
  } catch {
    // Nothing, and somebody could still write.
    return '';
  }
}

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

export interface NamespaceTree extends Tree {
  /** Before the command begins, so that all of it is behind us: among a thousand equals our turn comes once a second. */
  giveWay(): void;
  /** To be asked after the end, before the cgroup is removed. */
  used(): { cpuMs: number | null; peakMemoryBytes: number | null; passed: RunEnd | null };
}

/**
 * With more of them, a run gets less of the processor than others: each session counts as one, whatever its priority. With
 * less, two programs and a pipe would be slow for nothing.
 */
const CROWD = 16;

/**
 * The processes of a PID namespace. Killing the first one ends all the others, whatever they did to get away; its
 * parent has waited for it when it ends itself, so after that nothing is left. Before the first one is known, what there
 * is so far is one process group: killing only bubblewrap would leave a child that waits for it for ever. After its end
 * a number may be another's, and that one is none of ours.
 */
export function namespaceTree(given: {
  monitor: ChildProcess;
  status: number;
  cgroup: Cgroup | null;
  /** The folder of the host it may write, if any. */
  writable: string | null;
  exposure: Exposure;
}): NamespaceTree {
  const { cgroup } = given;
  const monitor = identifyChild(given.monitor);
  let known: Identity | null = null;
  let [peakMemoryBytes, cpuMs] = [0, 0];
  let [sampled, isCrowd] = [false, false];
  let tally: Tally | null = null;
  const memory = cgroup === null ? createTreeMemory() : null;
  const disk = given.writable === null ? null : createDiskGrowth(given.writable);
  const quick = cgroup === null && process.getuid?.() === 0 ? createGrowth() : null;

  /** Bubblewrap waits for the first process and then ends at once: until then, that number is nobody else's. */
  function isOver(): boolean {
    return hasExited(given.monitor) || isDead(monitor.pid);
  }

  function first(): Identity | null {
    if (known !== null) return known;
    const { firstPid, exitCode } = readStatus(given.status);
    if (firstPid === null) return null;
    const seen = identify(firstPid);
    const found = isOver() ? identifyLeft(firstPid, exitCode) : seen;
    // Else it could not be looked at, and the next time it may.
    if (isOver() || found.isRunning()) known = found;
    return found;
  }

  function isOurs(root: Identity): boolean {
    return root.isRunning() || !isOver();
  }

  function yieldAs(crowd: boolean): void {
    if (crowd !== isCrowd) cgroup?.share(crowd ? 'least' : 'usual');
    isCrowd = crowd;
  }

  function killGroup(): void {
    if (!monitor.isAnother()) tryKill(-monitor.pid, 'SIGKILL');
  }

  return {
    ...(quick !== null && { pauseMs: QUICK_MS }),
    check(limits) {
      if (given.exposure.lifted().length > 0) return 'exposed';
      const root = first();
      if (root === null || quick?.isCalm(limits.processes) || !isOurs(root)) return null;
      const pids = [root.pid, ...descendants(root.pid, limits.processes + 1)];
      // Before anything is read of them: a bomb grows while it is measured.
      if (cgroup === null && pids.length >= limits.processes) return 'processes';
      yieldAs(pids.length > CROWD);
      const samples = samplesOf(pids);
      tally ??= createTally(root.pid);
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
        trySetPriority(root.pid, Math.max(getPriority(), quick === null ? LOW_PRIORITY : LEAST_PRIORITY));
    },
    signal(name) {
      const root = first();
      if (root === null) return killGroup();
      for (const pid of isOurs(root) ? descendants(root.pid) : []) tryKill(pid, name);
    },
    kill() {
      // To end takes a turn, too.
      cgroup?.share('usual');
      const root = first();
      if (root === null) return killGroup();
      if (isOurs(root)) killFirst(root.pid);
      if (!root.isRunning()) given.monitor.kill('SIGKILL');
    },
    isGone() {
      const root = first();
      return root === null ? monitor.isAnother() || !groupExists(monitor.pid) : !root.isRunning();
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

/** The shell inside, and the subshell that becomes the command. */
const OUR_PROCESSES = 2;

/** A thread takes as much of the machine as a process does, and control groups count them alike. */
function threadsOf(samples: readonly ProcessSample[]): number {
  return samples.reduce((sum, { threads }) => sum + threads, 0);
}

/** Bubblewrap tells an exit code once it has waited: then the number is free. */
function identifyLeft(pid: number, exitCode: number | null): Identity {
  return exitCode === null ? identifyFirst(pid) : identify(pid, null);
}

/** Until we are told that a child has exited, its number is not given again. */
function identifyChild(child: ChildProcess): Identity {
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
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The least of all would never have a turn beside other work; it is for where nothing else bounds a fork bomb. */
const [MOST_PRIORITY, LOW_PRIORITY, LEAST_PRIORITY] = [-20, 10, 19];

/** It ends the others once it has its turn, and among thousands of them that may take half a minute. */
function killFirst(pid: number): void {
  trySetPriority(pid, MOST_PRIORITY);
  tryKill(pid, 'SIGKILL');
}

/** Nobody is meant by 0, the number of a process that could not be started: to the system it is ourselves. */
function trySetPriority(pid: number, priority: number): void {
  if (pid === 0) return;
  try {
    setPriority(pid, priority);
  } catch {
    // It has ended, or we may not: then the system bounds how many it can be.
  }
}

const QUICK_MS = 5;
const THOROUGH_MS = 100;

/**
 * Nothing in the kernel bounds the processes of root without a cgroup, and a fork bomb makes thousands before a slow
 * look at it. So the number of all threads of the machine is looked at often, and the tree when that has grown.
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
