import { readFileSync } from 'node:fs';
import { fail, type Result } from '../../kernel/result.ts';

const LIMITS = { ENOSPC: 'max_user_watches', EMFILE: 'max_user_instances' } as const;

/** Every folder takes one of the watches that the system allows a user, in all programs together. */
export function tooManyWatches(errno: keyof typeof LIMITS, watched: number): Result<never> {
  const setting = `fs.inotify.${LIMITS[errno]}`;
  const allowed = current(LIMITS[errno]);
  const now = allowed === null ? '' : ` (now ${allowed})`;
  const wanted = Math.max(524_288, (allowed ?? 0) * 2);
  const next = errno === 'ENOSPC' ? `sysctl ${setting}=${wanted}` : `sysctl ${setting}=1024`;
  return fail(
    'EXECUTION_ERROR',
    `The workspace cannot be watched: after ${watched} folders the system allows no more (${setting}${now}). An administrator can raise it with: ${next}`,
    { setting, allowed, watched },
  );
}

function current(name: string): number | null {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8'));
  } catch {
    return null;
  }
}
