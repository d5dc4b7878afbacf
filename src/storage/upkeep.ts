import type { Ledger, PruneLimits } from '../kernel/call/ledger.ts';

export interface UpkeepOptions {
  /** The longest time that a call of an ended process or an expired approval goes unnoticed. Default 5 s. */
  everyMs?: number;
  /** Limits for pruning, read anew each hour; undefined prunes nothing. */
  retention?: () => PruneLimits | undefined;
  /** Called when the store failed; the next round tries again. */
  onError?: (error: unknown) => void;
}

const PRUNE_EVERY_MS = 60 * 60 * 1000;

/**
 * Maintains the store of a long-running process: recovers calls of ended processes, expires approvals, prunes old
 * events. Several processes may do so on one store. Returns a function that stops it; the timer keeps no process alive.
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
