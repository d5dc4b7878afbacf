import type { LogEvent } from '../kernel/event.ts';
import type { MaybePromise } from '../kernel/result.ts';

const PAGE = 200;
const TRY_AGAIN_MS = 250;

interface Source {
  log(after: number, limit: number): MaybePromise<readonly LogEvent[]>;
  watch(changed: () => void): () => void;
}

/**
 * Reads on from a position whenever somebody may have written, one page at a time, and tells each event once; one that
 * the listener threw at is told again after a while.
 */
export class Follower {
  readonly #source: Source;
  readonly #listener: (event: LogEvent) => void;
  readonly #unwatch: () => void;
  #after: number;
  #reading = false;
  #again = false;
  #stopped = false;

  constructor(source: Source, listener: (event: LogEvent) => void, after: number) {
    this.#source = source;
    this.#listener = listener;
    this.#after = after;
    this.#unwatch = source.watch(() => this.look());
    this.look();
  }

  /** Asked for while it reads, it looks once more afterwards. */
  look(): void {
    this.#again = true;
    if (this.#reading || this.#stopped) return;
    this.#reading = true;
    void this.#read().finally(() => {
      this.#reading = false;
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
  }

  async #read(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        const page = await this.#source.log(this.#after, PAGE);
        for (const event of page) {
          if (this.#stopped) return;
          this.#listener(event);
          this.#after = event.pos;
        }
        if (page.length === PAGE) this.#again = true;
      } catch {
        // The store is away for a while, or the listener failed: go on from the same place.
        setTimeout(() => this.look(), TRY_AGAIN_MS).unref();
        return;
      }
    }
  }
}
