import type { Store } from './store.ts';

interface Listener<T> {
  onLoaded(found: T): void;
  onTrouble(error: unknown): void;
}

/**
 * Loads now, and again when the store has changed: one load at a time, so that on a slow line answers still come, with
 * a pause after each. The function that it gives back ends it; an answer that comes later is not heard.
 */
export function follow<T>(
  store: Pick<Store<unknown>, 'get' | 'subscribe'>,
  pauseMs: number,
  load: () => Promise<T>,
  { onLoaded, onTrouble }: Listener<T>,
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
