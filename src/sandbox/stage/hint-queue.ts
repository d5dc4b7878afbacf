import type { Stats } from 'node:fs';
import type { WalkedPath } from './change-list.ts';

/** Paths at which something may be different by now, looked at one batch after the other. */
export interface HintQueue {
  add(path: WalkedPath): void;
  /** Whether the host may still be at work there: what is written first and named later is looked at under its last name. */
  isUnsettled(path: WalkedPath, stat: Stats): boolean;
  /** Looks at the paths added so far, and at later ones by itself. Resolves with the answer of the first look. */
  begin(): Promise<boolean>;
  /** Looks at nothing more; resolves when the last look has ended. */
  end(): Promise<void>;
}

const QUIET_MS = 40;
const MAX_WAIT_MS = 500;
const RETRY_MS = 1_000;

/** `look` answers whether it could look; otherwise it is asked again later. */
export function createHintQueue(look: (paths: readonly WalkedPath[]) => Promise<boolean>): HintQueue {
  const waiting = new Map<string, WalkedPath>();
  const firstAtMs = new Map<string, number>();
  let state: 'new' | 'begun' | 'ended' = 'new';
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<unknown> = Promise.resolve();

  function add(path: WalkedPath): void {
    waiting.set(path.bytes, path);
    if (!firstAtMs.has(path.bytes)) firstAtMs.set(path.bytes, Date.now());
    schedule(QUIET_MS);
  }

  function schedule(afterMs: number): void {
    if (state !== 'begun') return;
    timer ??= setTimeout(() => {
      timer = null;
      work = work.then(lookNow);
    }, afterMs).unref();
  }

  async function lookNow(): Promise<boolean> {
    const paths = [...waiting.values()];
    waiting.clear();
    if (state === 'ended') return false;
    const hasLooked = await look(paths);
    if (!hasLooked) for (const path of paths) waiting.set(path.bytes, path);
    for (const { bytes } of paths) if (!waiting.has(bytes)) firstAtMs.delete(bytes);
    if (!hasLooked) schedule(RETRY_MS);
    return hasLooked;
  }

  return {
    add,
    isUnsettled({ bytes }, stat) {
      if (state === 'ended' || Date.now() - stat.ctimeMs > QUIET_MS) return false;
      return Date.now() - (firstAtMs.get(bytes) ?? Date.now()) < MAX_WAIT_MS;
    },
    begin() {
      state = 'begun';
      const first = lookNow();
      work = first;
      return first;
    },
    async end() {
      state = 'ended';
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await work;
    },
  };
}
