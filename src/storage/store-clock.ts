import { readFileSync } from 'node:fs';
import type { Clock } from '../kernel/ports.ts';

interface Anchor {
  wall: number;
  uptime: number;
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** What tells time although somebody sets the wall clock: which boot this is, and how long it has lasted. */
export interface Machine {
  boot: string;
  uptime: number;
}

/**
 * The time that deadlines are measured by: the wall clock as it was when this machine's store first looked, moved on
 * by time that really passed. Setting the wall clock moves no deadline, neither in a process that runs nor in one that
 * starts afterwards. A restart of the machine looks at the wall clock again.
 */
export function storeClock(
  remember: (machine: Machine, wall: number) => Anchor,
  clock: Clock = systemClock,
  machine: Machine | undefined = thisMachine(),
): () => number {
  const wall = clock.now();
  const startedAt = clock.monotonic();
  const anchor = machine === undefined ? undefined : remember(machine, wall);
  const start = anchor === undefined || machine === undefined ? wall : anchor.wall + machine.uptime - anchor.uptime;
  return () => Math.round(start + (clock.monotonic() - startedAt));
}

/** Linux tells it, with sleep counted in. Elsewhere a new process must believe the wall clock. */
function thisMachine(): Machine | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const uptime = Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
    return { boot, uptime };
  } catch {
    return undefined;
  }
}
