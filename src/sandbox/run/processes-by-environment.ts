import { isGone, pidsWithEnvironment, samplesOf } from '../../host/proc.ts';
import { identify } from '../../host/process-identity.ts';
import { tryKill } from '../../host/try-kill.ts';
import type { RunEnd } from '../../kernel/world/sandbox.ts';
import { createTreeMemory } from '../limits/tree-memory.ts';
import { createTreeUsageCounter } from '../limits/tree-usage.ts';
import type { MeasuredTree, TreeUse } from './supervise.ts';

/** A process has no environment for a moment while it becomes another program: only after this time does it count as ended. */
const QUIET_MS = 20;

/** The process tree on Linux, found by a mark in the environment: processes keep it when they leave their group or session. */
export function markedTree(pid: number, mark: string): MeasuredTree {
  const first = identify(pid);
  const tally = createTreeUsageCounter(pid);
  const memory = createTreeMemory();
  let used: TreeUse | null = null;
  let quietSince: number | undefined;
  const members = (): number[] => {
    const marked = pidsWithEnvironment(mark);
    return marked.includes(pid) || first.isReplaced() ? marked : [pid, ...marked];
  };
  const send = (signal: NodeJS.Signals): void => {
    for (const each of members()) tryKill(each, signal);
    if (!first.isReplaced()) tryKill(-pid, signal);
  };
  return {
    check(limits): RunEnd | null {
      const samples = samplesOf(members());
      const { cpuMs, writtenBytes } = tally.add(samples);
      const memoryBytes = memory.of(samples, limits.memoryBytes);
      used = { cpuMs, peakMemoryBytes: Math.max(used?.peakMemoryBytes ?? 0, memoryBytes) };
      // Checked first: thousands of processes also take memory and time, and the cause should be reported.
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
