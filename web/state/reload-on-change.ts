import type { Store } from './store.ts';

interface Reload<T> {
  readonly pauseMs: number;
  load(): Promise<T>;
  onLoaded(found: T): void;
  onTrouble(error: unknown): void;
}

/**
 * Loads now and again after each change of the store: one load at a time with a pause after each, so that a slow
 * connection still delivers. Returns a function that ends it; a response that arrives later is dropped.
 */
export function reloadOnChange<T>(
  store: Pick<Store<unknown>, 'get' | 'subscribe'>,
  { pauseMs, load, onLoaded, onTrouble }: Reload<T>,
): () => void {
  let ended = false;
  let busy = false;
  async function look(): Promise<void> {
    if (busy) return;
    busy = true;
    const before = store.get();
    await load().then(
      (found) => ended || onLoaded(found),
      (error) => ended || onTrouble(error),
    );
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    busy = false;
    if (!ended && !Object.is(store.get(), before)) void look();
  }
  void look();
  const stop = store.subscribe(() => void look());
  return () => {
    ended = true;
    stop();
  };
}
