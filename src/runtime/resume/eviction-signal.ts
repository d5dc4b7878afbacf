import type { Store } from '../../kernel/ports.ts';

/** Aborts the calls that run when this process is evicted from the store; later calls get a new signal. */
export class EvictionSignal {
  #abort = new AbortController();

  /** Returns undefined for a store that evicts no living process: then no call pays for it. */
  static of(store: Store): EvictionSignal | undefined {
    return store.onGivenUp === undefined ? undefined : new EvictionSignal(store.onGivenUp);
  }

  private constructor(onGivenUp: NonNullable<Store['onGivenUp']>) {
    onGivenUp(() => {
      const running = this.#abort;
      this.#abort = new AbortController();
      running.abort();
    });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}
