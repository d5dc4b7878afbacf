import type { LogEvent } from '../kernel/call/event.ts';
import { Follower, type Source } from './follow.ts';

type Listener = (event: LogEvent) => void;

/**
 * Reads the log once for all who follow from now on: a process has several of them, and each would read and parse every
 * event by itself. One who throws is told again, alone, so that the others do not hear anything twice.
 */
export class SharedFollower {
  readonly #source: Source;
  readonly #listeners = new Map<object, { listener: Listener; from: number }>();
  readonly #alone = new Map<object, Follower>();
  #follower: Follower | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Tells events after `from`, which is where the log ends now. Returns how to stop. */
  add(listener: Listener, from: number): () => void {
    const key = {};
    this.#listeners.set(key, { listener, from });
    this.#follower ??= new Follower(this.#source, (event) => this.#tell(event), from);
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

  hear(events: readonly LogEvent[]): void {
    this.#follower?.hear(events);
    for (const follower of this.#alone.values()) follower.hear(events);
  }

  stop(): void {
    this.#follower?.stop();
    for (const follower of this.#alone.values()) follower.stop();
    this.#follower = undefined;
    this.#listeners.clear();
    this.#alone.clear();
  }

  #tell(event: LogEvent): void {
    for (const [key, { listener, from }] of [...this.#listeners]) {
      if (event.pos <= from || !this.#listeners.has(key)) continue;
      try {
        listener(event);
      } catch {
        this.#listeners.delete(key);
        this.#alone.set(key, new Follower(this.#source, listener, event.pos - 1));
      }
    }
  }
}
