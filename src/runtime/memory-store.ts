import { type CallRecord, isFinal } from '../kernel/call.ts';
import type { CallMove, NewEvent, StoredEvent } from '../kernel/event.ts';
import type { CallQuery, Page, Store } from '../kernel/ports.ts';

const DEFAULT_PAGE = 100;

/**
 * The store of a library that was given none: nothing outlives the process, and only the latest calls are kept.
 * Answers at once, so the pipeline does not wait for it.
 */
export class MemoryStore implements Store {
  readonly #maxCalls: number;
  /** In the order they were requested. */
  readonly #calls = new Map<string, CallRecord>();
  readonly #byKey = new Map<string, string>();
  readonly #sequence = new Map<string, number>();
  readonly #events: StoredEvent[] = [];
  #position = 0;

  constructor({ maxCalls = 1000 }: { maxCalls?: number } = {}) {
    this.#maxCalls = maxCalls;
  }

  submit(call: CallRecord) {
    const known = call.key === null ? undefined : this.#calls.get(this.#byKey.get(keyOf(call)) ?? '');
    if (known !== undefined) return { call: known, event: null };
    this.#calls.set(call.id, call);
    if (call.key !== null) this.#byKey.set(keyOf(call), call.id);
    if (this.#calls.size > this.#maxCalls) this.#forgetOldest();
    const { id: callId, requestedAt: at, tool, args, effect, agent } = call;
    const data = { tool, args, effect, agent };
    return { call, event: this.#add(call.session, { type: 'call.requested', callId, at, data }) };
  }

  move(callId: string, move: CallMove, event: NewEvent): StoredEvent | null {
    const call = this.#calls.get(callId);
    if (call === undefined || !move.from.includes(call.state)) return null;
    this.#calls.set(callId, { ...call, ...move.set, state: move.to });
    return this.#add(call.session, event);
  }

  append(session: string, events: readonly NewEvent[]): readonly StoredEvent[] {
    return events.map((event) => this.#add(session, event));
  }

  call(callId: string): CallRecord | null {
    return this.#calls.get(callId) ?? null;
  }

  calls({ session, tool, states, after, limit = DEFAULT_PAGE }: CallQuery): Page<CallRecord> {
    const all = [...this.#calls.values()];
    const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const wanted = all
      .slice(start)
      .filter((call) => session === undefined || call.session === session)
      .filter((call) => tool === undefined || call.tool === tool)
      .filter((call) => states === undefined || states.includes(call.state));
    const items = wanted.slice(0, limit);
    return { items, next: wanted.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  events(session: string, after = 0, limit = Number.MAX_SAFE_INTEGER): readonly StoredEvent[] {
    return this.#events.filter((event) => event.session === session && event.seq > after).slice(0, limit);
  }

  clear(): void {
    for (const call of this.#calls.values()) if (isFinal(call.state)) this.#forget(call);
    const kept = this.#events.filter((event) => this.#calls.has(event.callId));
    this.#events.splice(0, this.#events.length, ...kept);
  }

  #add(session: string, event: NewEvent): StoredEvent {
    const seq = (this.#sequence.get(session) ?? 0) + 1;
    this.#sequence.set(session, seq);
    const stored = { ...event, session, seq, pos: ++this.#position };
    this.#events.push(stored);
    // A call has three events, five with an approval: those of forgotten calls go first.
    if (this.#events.length > this.#maxCalls * 5) this.#events.shift();
    return stored;
  }

  /** The oldest call that has ended; one that still runs is never forgotten, so the bound is soft. */
  #forgetOldest(): void {
    for (const call of this.#calls.values()) {
      if (!isFinal(call.state)) continue;
      this.#forget(call);
      if (this.#calls.size <= this.#maxCalls) return;
    }
  }

  #forget(call: CallRecord): void {
    this.#calls.delete(call.id);
    if (call.key !== null) this.#byKey.delete(keyOf(call));
  }
}

function keyOf({ session, key }: CallRecord): string {
  return JSON.stringify([session, key]);
}
