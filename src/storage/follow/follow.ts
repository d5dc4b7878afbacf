import type { LogEvent, LogEventType } from '../../kernel/call/event.ts';
import type { MaybePromise } from '../../kernel/result.ts';

const PAGE = 200;
const TRY_AGAIN_MS = 250;

export interface LogSource {
  log(after: number, limit: number): MaybePromise<readonly LogEvent[]>;
  watch(changed: () => void): () => void;
}

/**
 * Reads the log from a position on whenever a process may have written, one page at a time, and delivers each event
 * once. An event at which the listener threw is delivered again later.
 */
export class Follower {
  readonly #source: LogSource;
  readonly #listener: (event: LogEvent) => void;
  readonly #unwatch: () => void;
  #after: number;
  #reading = false;
  #again = false;
  #stopped = false;

  constructor(source: LogSource, listener: (event: LogEvent) => void, after: number) {
    this.#source = source;
    this.#listener = listener;
    this.#after = after;
    this.#unwatch = source.watch(() => this.poll());
    this.poll();
  }

  /** Reads new events. A poll during a read makes it read once more afterwards. */
  poll(): void {
    this.#again = true;
    if (this.#reading || this.#stopped) return;
    this.#reading = true;
    void this.#read().finally(() => {
      this.#reading = false;
    });
  }

  /**
   * Delivers events that were just written, in order; falls back to reading the log when they are not the next ones.
   */
  deliver(events: readonly LogEvent[]): void {
    if (this.#reading || this.#stopped || events[0]?.pos !== this.#after + 1) {
      this.poll();
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
        // The store is away, or the listener threw: continue later from the same position.
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
    setTimeout(() => this.poll(), TRY_AGAIN_MS).unref();
  }
}

interface Subscription {
  readonly listener: (event: LogEvent) => void;
  /** Undefined for all. */
  readonly types: ReadonlySet<LogEventType> | undefined;
  /** The end of the log when it began: earlier events are not delivered. */
  readonly from: number;
}

/**
 * Reads the log once for all listeners that follow from now on; otherwise each of them would read and parse every
 * event. A listener that throws continues with a follower of its own, so the others receive nothing twice.
 */
export class SharedFollower {
  readonly #source: LogSource;
  readonly #listeners = new Map<object, Subscription>();
  readonly #alone = new Map<object, Follower>();
  #follower: Follower | undefined;

  constructor(source: LogSource) {
    this.#source = source;
  }

  /** Returns a function that stops the subscription. */
  add(subscription: Subscription): () => void {
    const key = {};
    this.#listeners.set(key, subscription);
    this.#follower ??= new Follower(this.#source, (event) => this.#tell(event), subscription.from);
    return () => {
      this.#alone.get(key)?.stop();
      this.#alone.delete(key);
      this.#listeners.delete(key);
      if (this.#listeners.size > 0) return;
      this.#follower?.stop();
      this.#follower = undefined;
    };
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0 && this.#alone.size === 0;
  }

  deliver(events: readonly LogEvent[]): void {
    this.#follower?.deliver(events);
    for (const follower of this.#alone.values()) follower.deliver(events);
  }

  stop(): void {
    this.#follower?.stop();
    for (const follower of this.#alone.values()) follower.stop();
    this.#follower = undefined;
    this.#listeners.clear();
    this.#alone.clear();
  }

  #tell(event: LogEvent): void {
    for (const [key, { listener, types, from }] of [...this.#listeners]) {
      if (event.pos <= from || !this.#listeners.has(key)) continue;
      if (types !== undefined && !types.has(event.type)) continue;
      try {
        listener(event);
      } catch {
        this.#listeners.delete(key);
        const filtered = (each: LogEvent) => {
          if (types === undefined || types.has(each.type)) listener(each);
        };
        this.#alone.set(key, new Follower(this.#source, filtered, event.pos - 1));
      }
    }
  }
}
