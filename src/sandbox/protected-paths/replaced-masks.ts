import { identityOf } from '../../host/files.ts';

/**
 * Whoever replaces a file on the host lifts the mount that hides it, and the run sees the new one: many editors save
 * like that. No mount can foresee it, so it is looked for while the run goes on.
 */
export interface Exposure {
  /** Paths whose cover is gone. Looks at most every 20 ms, and less often where looking takes long. */
  lifted(when?: 'in-time' | 'now'): readonly string[];
}

const PAUSE_MS = 20;
/** How much of the time may go into looking. */
const SHARE = 0.02;

/** `hidden` may go away without harm; `blocked` may not, since the run could put something there. */
export function watchExposure(given: { hidden: readonly string[]; blocked: readonly string[] }): Exposure {
  const before = new Map([...given.hidden, ...given.blocked].map((path) => [path, identityOf(path)]));
  const blocked = new Set(given.blocked);
  let nextMs = 0;
  let lifted: readonly string[] = [];

  function isLifted(path: string, was: string | undefined): boolean {
    const is = identityOf(path);
    return is !== was && (is !== undefined || blocked.has(path));
  }

  return {
    lifted(when = 'in-time') {
      const startedAt = performance.now();
      if (lifted.length > 0 || (when === 'in-time' && startedAt < nextMs)) return lifted;
      lifted = [...before].filter(([path, was]) => isLifted(path, was)).map(([path]) => path);
      const endedAt = performance.now();
      nextMs = endedAt + Math.max(PAUSE_MS, (endedAt - startedAt) / SHARE);
      return lifted;
    },
  };
}
