import { messageOf } from '../kernel/error.ts';
import type { Event } from '../kernel/call/event.ts';
import type { Logger } from '../kernel/ports.ts';
import { isPromise } from '../kernel/result.ts';

/** What it returns is ignored; a promise that rejects is logged. */
export type Listener = (event: Event) => unknown;

/** Hands events to whoever listens in this process. A listener that throws is logged and hurts nobody else. */
export class EventBus {
  readonly #listeners = new Set<Listener>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns how to stop listening. */
  on(listener: Listener): () => void {
    // A wrapper of its own, so that the same function may listen twice and leave once.
    const entry: Listener = (event) => listener(event);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  get listening(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) {
      try {
        const answer = listener(event);
        if (isPromise(answer)) answer.catch((error) => this.#failed(event, error));
      } catch (error) {
        this.#failed(event, error);
      }
    }
  }

  #failed({ type }: Event, error: unknown): void {
    this.#log.error({ event: type }, `An event listener failed: ${messageOf(error)}`);
  }
}
