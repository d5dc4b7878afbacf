import { readFileSync } from 'node:fs';
import type { Clock } from '../../kernel/ports.ts';
import { systemClock } from '../../kernel/ports.ts';

interface ClockAnchor {
  wall: number;
  uptime: number;
}

/**
 * Identifies the boot of this machine and tells how many ms it has lasted; setting the wall clock does not change it.
 */
export interface BootClock {
  boot: string;
  uptime(): number;
}

/**
 * Returns the clock for deadlines: the wall clock as it was when the store was first opened since boot, plus the time
 * passed since. Setting the wall clock moves no deadline, neither in a running process nor in one that starts later.
 * After a reboot the wall clock is read again.
 */
export function storeClock(
  remember: (boot: string, uptime: number, wall: number) => ClockAnchor,
  clock: Clock = systemClock,
  machine: BootClock | undefined = thisMachine(),
): () => number {
  const wall = clock.now();
  if (machine === undefined) {
    const startedAt = clock.monotonic();
    return () => Math.round(wall + (clock.monotonic() - startedAt));
  }
  const anchor = remember(machine.boot, machine.uptime(), wall);
  // Read each time: the monotonic clock of a process stops while the machine sleeps, and other processes would be
  // ahead.
  return () => Math.round(anchor.wall + machine.uptime() - anchor.uptime);
}

/** Linux reports boot and uptime, including sleep. Elsewhere a new process has to trust the wall clock. */
function thisMachine(): BootClock | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    let last = { uptime: readUptime(), at: performance.now() };
    return { boot, uptime };

    function uptime(): number {
      try {
        last = { uptime: readUptime(), at: performance.now() };
        return last.uptime;
      } catch {
        // No file descriptor is free at the moment.
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
