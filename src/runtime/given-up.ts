import type { Store } from '../kernel/ports.ts';

/** Aborts whatever runs now when others have given this process up; what starts afterwards is a new matter. */
export class GivenUp {
  #abort = new AbortController();

  /** Undefined for a store that gives no living process up: then no call pays for it. */
  static of(store: Store): GivenUp | undefined {
    return store.onGivenUp === undefined ? undefined : new GivenUp(store.onGivenUp);
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
