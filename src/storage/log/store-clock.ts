import { readFileSync } from 'node:fs';
import type { Clock } from '../../kernel/ports.ts';
import { systemClock } from '../../kernel/system-clock.ts';

interface Anchor {
  wall: number;
  uptime: number;
}

/** What tells time although somebody sets the wall clock: which boot this is, and how many ms it has lasted so far. */
export interface Machine {
  boot: string;
  uptime(): number;
}

/**
 * The time that deadlines are measured by: the wall clock as it was when this machine's store first looked, moved on
 * by time that really passed. Setting the wall clock moves no deadline, neither in a process that runs nor in one that
 * starts afterwards. A restart of the machine looks at the wall clock again.
 */
export function storeClock(
  remember: (boot: string, uptime: number, wall: number) => Anchor,
  clock: Clock = systemClock,
  machine: Machine | undefined = thisMachine(),
): () => number {
  const wall = clock.now();
  if (machine === undefined) {
    const startedAt = clock.monotonic();
    return () => Math.round(wall + (clock.monotonic() - startedAt));
  }
  const anchor = remember(machine.boot, machine.uptime(), wall);
  // Asked each time: a process's own count stands still while the machine sleeps, and others would be ahead of it.
  return () => Math.round(anchor.wall + machine.uptime() - anchor.uptime);
}

/** Linux tells it, with sleep counted in. Elsewhere a new process must believe the wall clock. */
function thisMachine(): Machine | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    let last = { uptime: readUptime(), at: performance.now() };
    return { boot, uptime };

    function uptime(): number {
      try {
        last = { uptime: readUptime(), at: performance.now() };
        return last.uptime;
      } catch {
        // No file handle is free just now.
        return last.uptime + performance.now() - last.at;
      }
    }
  } catch {
    return undefined;
  }
}

function readUptime(): number {
  return Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
}
