import { type CallRecord, isFinal } from '../kernel/call.ts';
import type { CallMove, NewEvent, StoredEvent } from '../kernel/event.ts';
import type { CallQuery, Page, Store } from '../kernel/ports.ts';
import { Ring } from './ring.ts';

const DEFAULT_PAGE = 100;

/**
 * The store of a library that was given none: nothing outlives the process, and only the latest calls are kept.
 * Answers at once, so the pipeline does not wait for it.
 */
export class MemoryStore implements Store {
  /** Rows are changed in place and handed out as copies: this is on the path of every call. */
  readonly #calls = new Map<string, Row>();
  readonly #latest: Ring<Row>;
  /** Calls that outlived their place among the latest because they still ran. */
  readonly #overdue = new Set<string>();
  readonly #byKey = new Map<string, string>();
  readonly #sequence = new Map<string, number>();
  readonly #events: Ring<StoredEvent>;
  #position = 0;

  constructor({ maxCalls = 500 }: { maxCalls?: number } = {}) {
    this.#latest = new Ring(maxCalls);
    // A call has three events, five with an approval: those of forgotten calls go first.
    this.#events = new Ring(maxCalls * 5);
  }

  submit(call: CallRecord) {
    const known = call.key === null ? undefined : this.#calls.get(this.#byKey.get(keyOf(call)) ?? '');
    if (known !== undefined) return { call: { ...known }, event: null };
    this.#keep(call as Row);
    const { id: callId, requestedAt: at, tool, args, effect, agent } = call;
    const data = { tool, args, effect, agent };
    return { call, event: this.#add(call.session, { type: 'call.requested', callId, at, data }) };
  }

  move(callId: string, move: CallMove, event: NewEvent): StoredEvent | null {
    const row = this.#calls.get(callId);
    if (row === undefined || !move.from.includes(row.state)) return null;
    Object.assign(row, move.set);
    row.state = move.to;
    if (this.#overdue.size > 0 && isFinal(move.to) && this.#overdue.delete(callId)) this.#forget(row);
    return this.#add(row.session, event);
  }

  append(session: string, events: readonly NewEvent[]): readonly StoredEvent[] {
    return events.map((event) => this.#add(session, event));
  }

  call(callId: string): CallRecord | null {
    const row = this.#calls.get(callId);
    return row === undefined ? null : { ...row };
  }

  calls({ session, tool, states, after, limit = DEFAULT_PAGE }: CallQuery): Page<CallRecord> {
    const all = [...this.#calls.values()];
    const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const wanted = all
      .slice(start)
      .filter((call) => session === undefined || call.session === session)
      .filter((call) => tool === undefined || call.tool === tool)
      .filter((call) => states === undefined || states.includes(call.state));
    const items = wanted.slice(0, limit).map((row) => ({ ...row }));
    return { items, next: wanted.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  events(session: string, after = 0, limit = Number.MAX_SAFE_INTEGER): readonly StoredEvent[] {
    return this.#events
      .all()
      .filter((event) => event.session === session && event.seq > after)
      .slice(0, limit);
  }

  clear(): void {
    for (const row of this.#calls.values()) if (isFinal(row.state)) this.#forget(row);
    this.#latest.replaceAll([...this.#calls.values()].filter(({ id }) => !this.#overdue.has(id)));
    this.#events.replaceAll(this.#events.all().filter((event) => this.#calls.has(event.callId)));
  }

  #add(session: string, event: NewEvent): StoredEvent {
    const seq = (this.#sequence.get(session) ?? 0) + 1;
    this.#sequence.set(session, seq);
    const { type, callId, at, data } = event;
    // Spelt out: spreading costs a microsecond here, three times a call.
    const stored = { type, callId, at, data, session, seq, pos: ++this.#position } as StoredEvent;
    this.#events.add(stored);
    return stored;
  }

  /** The oldest ended call goes when the bound is reached; one that still runs is kept until it ends. */
  #keep(call: Row): void {
    const row = { ...call };
    this.#calls.set(row.id, row);
    if (row.key !== null) this.#byKey.set(keyOf(row), row.id);
    const oldest = this.#latest.add(row);
    if (oldest === undefined) return;
    if (isFinal(oldest.state)) this.#forget(oldest);
    else this.#overdue.add(oldest.id);
  }

  #forget(row: CallRecord): void {
    this.#calls.delete(row.id);
    if (row.key !== null) this.#byKey.delete(keyOf(row));
  }
}

type Row = { -readonly [K in keyof CallRecord]: CallRecord[K] };

function keyOf({ session, key }: CallRecord): string {
  return JSON.stringify([session, key]);
}
