import type { CallRecord, Effect } from '../kernel/call/call.ts';
import type { Event, StoredEvent } from '../kernel/call/event.ts';

type StoredEventOf<T> = Extract<StoredEvent, { type: T }>;

/** The events of a call so far. */
interface CallEvents {
  requested?: StoredEventOf<'call.requested'>;
  started?: StoredEventOf<'call.started'>;
  finished?: StoredEventOf<'call.finished'>;
  /** Another kind of event happened, so only the stored row is accurate. */
  isMore?: true;
}

/**
 * Builds the record of a finished call from its own events, which saves one query for each call that a client waits
 * for.
 */
export class FinishedCalls {
  readonly #steps = new Map<string, CallEvents>();

  constructor(sources: Iterable<{ on(listener: (event: Event) => void): unknown }>) {
    for (const source of sources) source.on((event) => this.#hear(event));
  }

  /** Starts collecting; to be called before the call is made. `take` ends it. */
  expect(id: string): void {
    this.#steps.set(id, {});
  }

  /** Returns the record as stored; undefined for a call that did not simply run and end, which only the store knows. */
  take(id: string, effectOf: (tool: string) => Effect | undefined): CallRecord | undefined {
    const { requested, started, finished, isMore } = this.#steps.get(id) ?? {};
    this.#steps.delete(id);
    if (requested === undefined || started === undefined || finished === undefined || isMore) return undefined;
    const { tool, state, outcome, durationMs } = finished.data;
    const effect = effectOf(tool);
    if (effect === undefined) return undefined;
    return {
      id,
      session: finished.session,
      agent: requested.data.agent,
      tool,
      args: started.data.args,
      key: null,
      effect,
      state,
      requestedAt: requested.at,
      startedAt: started.at,
      finishedAt: finished.at,
      durationMs: durationMs === null ? null : Math.round(durationMs * 1000) / 1000,
      outcome,
      attempt: 1,
      approvedBy: null,
    };
  }

  #hear(event: Event): void {
    const steps = event.callId === null ? undefined : this.#steps.get(event.callId);
    if (steps === undefined || event.type === 'call.progressed') return;
    if (event.type === 'call.requested') steps.requested = event;
    else if (event.type === 'call.started') steps.started = event;
    else if (event.type === 'call.finished') steps.finished = event;
    else steps.isMore = true;
  }
}
