import type { Event } from '../kernel/call/event.ts';
import { messageOf } from '../kernel/error.ts';
import type { Logger } from '../kernel/ports.ts';
import { isPromise } from '../kernel/result.ts';

/** The returned value is ignored; a promise that rejects is logged. */
export type Listener = (event: Event) => unknown;

interface Subscription {
  readonly listener: Listener;
  /** Undefined for all. */
  readonly types: readonly Event['type'][] | undefined;
}

/**
 * Delivers events to the listeners of this process. A listener that throws is logged and does not affect the others.
 */
export class EventBus {
  readonly #listeners = new Set<Subscription>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Listens to events of these types, or to all. Returns a function that stops it. */
  on(listener: Listener, types?: readonly Event['type'][]): () => void {
    // An entry of its own, so that the same function may listen twice and leave once.
    const entry = { listener, types };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  get listening(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: Event): void {
    for (const { listener, types } of this.#listeners) {
      if (types !== undefined && !types.includes(event.type)) continue;
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
