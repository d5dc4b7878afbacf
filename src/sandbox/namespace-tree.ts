import { readSync } from 'node:fs';
import type { Limits, RunEnd } from '../kernel/sandbox.ts';
import type { Cgroup } from './cgroup.ts';
import { descendants, isGone, useOf } from './proc.ts';
import type { Tree } from './supervise.ts';

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

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

export interface NamespaceTree extends Tree {
  /** To be asked after the end, before the cgroup is removed. */
  used(): { cpuMs: number | null; peakMemoryBytes: number | null; passed: RunEnd | null };
}

/**
 * The processes of a PID namespace. Killing the first one ends all the others, whatever they did to get away; its
 * parent has waited for it when it ends itself, so after that nothing is left.
 */
export function namespaceTree(given: { monitorPid: number; status: number; cgroup: Cgroup | null }): NamespaceTree {
  const { monitorPid, cgroup } = given;
  let first: number | null = null;
  let [peakMemoryBytes, cpuMs] = [0, 0];
  let sampled = false;

  function firstPid(): number | null {
    first ??= readStatus(given.status).firstPid;
    return first;
  }

  function send(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }

  return {
    check(limits) {
      const root = firstPid();
      if (root === null) return null;
      const use = useOf([root, ...descendants(root)]);
      sampled = true;
      peakMemoryBytes = Math.max(peakMemoryBytes, use.memoryBytes);
      cpuMs = Math.max(cpuMs, use.cpuMs);
      return passedLimit(limits, use, cgroup);
    },
    signal(name) {
      const root = firstPid();
      if (root === null) return send(monitorPid, 'SIGKILL');
      for (const pid of descendants(root)) send(pid, name);
    },
    kill() {
      const root = firstPid();
      send(root ?? monitorPid, 'SIGKILL');
      if (root !== null && isGone(root)) send(monitorPid, 'SIGKILL');
    },
    isGone() {
      const root = firstPid();
      return root === null || isGone(root);
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

function passedLimit(limits: Limits, use: ReturnType<typeof useOf>, cgroup: Cgroup | null): RunEnd | null {
  const group = cgroup?.use();
  if (group !== undefined && group.memoryKills > 0) return 'memory';
  if (group !== undefined && group.refusedProcesses > 0) return 'processes';
  if ((group?.cpuMs ?? use.cpuMs) > limits.cpuMs) return 'cpu';
  if (use.writtenBytes > limits.writeBytes) return 'write';
  if (cgroup !== null) return null;
  if (use.memoryBytes > limits.memoryBytes) return 'memory';
  return use.processes >= limits.processes ? 'processes' : null;
}
