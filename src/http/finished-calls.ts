import type { CallRecord, Effect } from '../kernel/call/call.ts';
import type { Event, StoredEvent } from '../kernel/call/event.ts';

type Told<T> = Extract<StoredEvent, { type: T }>;

/** What was told of a call so far. */
interface Steps {
  requested?: Told<'call.requested'>;
  started?: Told<'call.started'>;
  finished?: Told<'call.finished'>;
  /** Something else happened to it, so that only its row tells how it stands. */
  isMore?: true;
}

/** Calls that somebody waits for here, put together from their own events: reading each of them back is a query less. */
export class ToldCalls {
  readonly #steps = new Map<string, Steps>();

  constructor(sources: Iterable<{ on(listener: (event: Event) => void): unknown }>) {
    for (const source of sources) source.on((event) => this.#hear(event));
  }

  /** Before the call is made. `take` it when it is over. */
  expect(id: string): void {
    this.#steps.set(id, {});
  }

  /** As its row is now; undefined for a call that did not simply run and end: only the store knows that one. */
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
