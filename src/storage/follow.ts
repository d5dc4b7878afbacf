import type { LogEvent } from '../kernel/call/event.ts';
import type { MaybePromise } from '../kernel/result.ts';

const PAGE = 200;
const TRY_AGAIN_MS = 250;

export interface Source {
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

  /** Events that were just written, in their order: told as they are, if they are what comes next. */
  hear(events: readonly LogEvent[]): void {
    if (this.#reading || this.#stopped || events[0]?.pos !== this.#after + 1) {
      this.look();
      return;
    }
    try {
      this.#tell(events);
    } catch {
      this.#lookLater();
    }
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
        this.#tell(page);
        if (page.length === PAGE) this.#again = true;
      } catch {
        // The store is away for a while, or the listener failed: go on from the same place.
        this.#lookLater();
        return;
      }
    }
  }

  #tell(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (this.#stopped) return;
      this.#listener(event);
      this.#after = event.pos;
    }
  }

  #lookLater(): void {
    setTimeout(() => this.look(), TRY_AGAIN_MS).unref();
  }
}
