import type { RunEnd } from '../../kernel/world/sandbox.ts';
import { identify, isGone, pidsWithEnvironment, samplesOf } from '../../host/proc.ts';
import type { MeasuredTree, Used } from './supervise.ts';
import { createTally } from '../limits/tree-usage.ts';
import { createTreeMemory } from '../limits/tree-memory.ts';
import { tryKill } from '../try-kill.ts';

/** A process has no environment for a moment when it becomes another program: only a lasting silence is an end. */
const QUIET_MS = 20;

/** Linux. Processes are found by a mark in their environment: they keep it when they leave their group or session. */
export function markedTree(pid: number, mark: string): MeasuredTree {
  const first = identify(pid);
  const tally = createTally(pid);
  const memory = createTreeMemory();
  let used: Used | null = null;
  let quietSince: number | undefined;
  const members = (): number[] => {
    const marked = pidsWithEnvironment(mark);
    return marked.includes(pid) || first.isAnother() ? marked : [pid, ...marked];
  };
  const send = (signal: NodeJS.Signals): void => {
    for (const each of members()) tryKill(each, signal);
    if (!first.isAnother()) tryKill(-pid, signal);
  };
  return {
    check(limits): RunEnd | null {
      const samples = samplesOf(members());
      const { cpuMs, writtenBytes } = tally.add(samples);
      const memoryBytes = memory.of(samples, limits.memoryBytes);
      used = { cpuMs, peakMemoryBytes: Math.max(used?.peakMemoryBytes ?? 0, memoryBytes) };
      // Thousands of processes also take memory and time: what is told is the cause.
      if (samples.reduce((sum, { threads }) => sum + threads, 0) > limits.processes) return 'processes';
      if (cpuMs > limits.cpuMs) return 'cpu';
      if (memoryBytes > limits.memoryBytes) return 'memory';
      return writtenBytes > limits.writeBytes ? 'write' : null;
    },
    used: () => used,
    signal: send,
    kill: () => send('SIGKILL'),
    isGone() {
      if (!pidsWithEnvironment(mark).every(isGone)) quietSince = undefined;
      else quietSince ??= performance.now();
      return quietSince !== undefined && performance.now() - quietSince >= QUIET_MS;
    },
  };
}
