import { readFileSync } from 'node:fs';
import type { Clock } from '../kernel/ports.ts';

interface Anchor {
  wall: number;
  uptime: number;
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/**
 * The time that deadlines are measured by: the wall clock as it was when this machine's store first looked, moved on
 * by time that really passed. Setting the wall clock moves no deadline, neither in a process that runs nor in one that
 * starts afterwards. A restart of the machine looks at the wall clock again.
 */
export function storeClock(
  clock: Clock = systemClock,
  remember?: (boot: string, wall: number, uptime: number) => Anchor,
): () => number {
  const boot = clock === systemClock ? bootId() : undefined;
  const uptime = boot === undefined ? undefined : uptimeMs();
  let start = clock.now();
  if (boot !== undefined && uptime !== undefined && remember !== undefined) {
    const anchor = remember(boot, start, uptime);
    start = anchor.wall + (uptime - anchor.uptime);
  }
  const startedAt = clock.monotonic();
  return () => Math.round(start + (clock.monotonic() - startedAt));
}

/** Linux tells which boot this is, and how long it has lasted with sleep counted in. Elsewhere the wall clock must do. */
function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

function uptimeMs(): number | undefined {
  try {
    return Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000);
  } catch {
    return undefined;
  }
}
