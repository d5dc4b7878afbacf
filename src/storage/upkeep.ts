import type { Ledger, PruneLimits } from '../kernel/call/ledger.ts';

export interface UpkeepOptions {
  /** How long a call of an ended process, or a question whose time is over, may go unnoticed. Default 5 s. */
  everyMs?: number;
  /** What to forget, asked anew each time; undefined forgets nothing. Looked at once an hour. */
  retention?: () => PruneLimits | undefined;
  /** The store was away; it is tried again next time. */
  onError?: (error: unknown) => void;
}

const PRUNE_EVERY_MS = 60 * 60 * 1000;

/**
 * What a process that stays does beside its work: looks after calls whose process ended, ends questions whose time is
 * over, forgets what is old. Several may do it on one store. Returns how to stop; it keeps no process alive.
 */
export function keepUp(store: Ledger, { everyMs = 5000, retention, onError }: UpkeepOptions = {}): () => void {
  let busy = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => void look(), everyMs).unref();
  void look();
  return () => clearInterval(timer);

  async function look(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      await store.recover();
      await store.expire();
      const limits = performance.now() - prunedAt > PRUNE_EVERY_MS ? retention?.() : undefined;
      if (limits !== undefined) {
        prunedAt = performance.now();
        await store.prune(limits);
      }
    } catch (error) {
      onError?.(error);
    } finally {
      busy = false;
    }
  }
}
