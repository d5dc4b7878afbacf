import { hash } from 'node:crypto';
import { type CallRecord, isFinal } from '../../kernel/call/call.ts';
import type { CallMove, NewEvent, StoredEvent } from '../../kernel/call/event.ts';
import { storedName } from '../../kernel/call/stored-name.ts';
import type { CallQuery, Page, Store } from '../../kernel/ports.ts';
import { estimateSize, Ring } from './ring.ts';

const DEFAULT_PAGE = 100;

/**
 * The default store: nothing survives the process, and only the latest calls are kept. It answers synchronously, so the
 * pipeline does not wait for it.
 */
export class MemoryStore implements Store {
  readonly #calls = new Map<string, CallEntry>();
  readonly #latest: Ring<CallEntry>;
  /** Calls beyond the limit that are kept because they still run. */
  readonly #overdue = new Set<string>();
  readonly #byKey = new Map<string, string>();
  readonly #sequence = new Map<string, number>();
  readonly #events: Ring<StoredEvent>;
  #position = 0;
  /** Estimated characters held by ended calls. */
  #size = 0;

  constructor({ maxCalls = 500 }: { maxCalls?: number } = {}) {
    this.#latest = new Ring(maxCalls);
    // A call has three events, five with an approval: those of forgotten calls go first.
    this.#events = new Ring(maxCalls * 5);
  }

  submit(given: CallRecord) {
    const call = underStoredNames(given);
    const known = call.key === null ? undefined : this.#calls.get(this.#byKey.get(keyOf(call)) ?? '');
    if (known !== undefined) return { call: recordOf(known), event: null };
    this.#keep({ record: call, size: 0 });
    const { id: callId, requestedAt: at, tool, args, effect, agent } = call;
    const data = { tool, args, effect, agent };
    return { call, event: this.#add(call.session, { type: 'call.requested', callId, at, data }) };
  }

  move(callId: string, move: CallMove, event: NewEvent): StoredEvent | null {
    const row = this.#calls.get(nameOf(callId));
    if (row === undefined || !move.from.includes(row.record.state)) return null;
    Object.assign(row.record, move.set);
    row.record.state = move.to;
    const stored = this.#add(row.record.session, event);
    if (isFinal(move.to)) this.#ended(row);
    return stored;
  }

  append(session: string, events: readonly NewEvent[]): readonly StoredEvent[] {
    return events.map((event) => this.#add(nameOf(session), event));
  }

  call(callId: string): CallRecord | null {
    const row = this.#calls.get(nameOf(callId));
    return row === undefined ? null : recordOf(row);
  }

  calls({ states, after, ...query }: CallQuery): Page<CallRecord> {
    const limit = pageSize(query.limit);
    const session = query.session === undefined ? undefined : nameOf(query.session);
    const tool = query.tool === undefined ? undefined : nameOf(query.tool);
    const all = [...this.#calls.values()].map(({ record }) => record);
    const before = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
    // An unknown cursor selects nothing: starting over would repeat every call.
    const wanted = (after !== undefined && before === -1 ? [] : all.slice(before + 1))
      .filter((call) => session === undefined || call.session === session)
      .filter((call) => tool === undefined || call.tool === tool)
      .filter((call) => states === undefined || states.includes(call.state));
    const items = wanted.slice(0, limit).map((record) => ({ ...record }));
    return { items, next: wanted.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  events(of: string, after = 0, limit = Number.MAX_SAFE_INTEGER): readonly StoredEvent[] {
    const session = nameOf(of);
    return this.#events
      .all()
      .filter((event) => event.session === session && event.seq > after)
      .slice(0, limit);
  }

  clear(): void {
    this.#forgetEnded(Number.POSITIVE_INFINITY);
  }

  #add(session: string, event: NewEvent): StoredEvent {
    const seq = (this.#sequence.get(session) ?? 0) + 1;
    this.#sequence.set(session, seq);
    const { type, at, data } = event;
    const callId = event.callId === null ? null : nameOf(event.callId);
    // No spread: it costs a microsecond here, three times a call.
    const stored = { type, callId, at, data, session, seq, pos: ++this.#position } as StoredEvent;
    this.#events.add(stored);
    return stored;
  }

  /** Drops the oldest call at the limit, or when it ends if it still runs. */
  #keep(row: CallEntry): void {
    const { id, key } = row.record;
    this.#calls.set(id, row);
    if (key !== null) this.#byKey.set(keyOf(row.record), id);
    const oldest = this.#latest.add(row);
    if (oldest === undefined) return;
    if (isFinal(oldest.record.state)) this.#forget(oldest);
    else this.#overdue.add(oldest.record.id);
  }

  #ended(row: CallEntry): void {
    const { outcome, args, id } = row.record;
    row.size = (outcome?.text.length ?? 0) + estimateSize(outcome?.value) + estimateSize(args);
    this.#size += row.size;
    if (this.#overdue.size > 0 && this.#overdue.delete(id)) this.#forget(row);
    // Rare: only values much larger than a model can read get here.
    if (this.#size > MAX_CHARACTERS) this.#forgetEnded(this.#size / 2);
  }

  /** Drops ended calls, the oldest first, until `wanted` characters are free. */
  #forgetEnded(wanted: number): void {
    const target = this.#size - wanted;
    for (const row of this.#calls.values()) {
      if (this.#size <= target) break;
      if (isFinal(row.record.state)) this.#forget(row);
    }
    this.#latest.replaceAll([...this.#calls.values()].filter(({ record }) => !this.#overdue.has(record.id)));
    this.#events.replaceAll(this.#events.all().filter(({ callId }) => callId === null || this.#calls.has(callId)));
  }

  #forget({ record, size }: CallEntry): void {
    this.#size -= size;
    this.#calls.delete(record.id);
    if (record.key !== null) this.#byKey.delete(keyOf(record));
  }
}

/** Holds the submitted record itself, which is changed in place: it is on the hot path of every call. */
interface CallEntry {
  readonly record: { -readonly [K in keyof CallRecord]: CallRecord[K] };
  size: number;
}

function pageSize(limit = DEFAULT_PAGE): number {
  return Number.isNaN(limit) ? DEFAULT_PAGE : Math.max(1, Math.floor(limit));
}

/** Returns the given record itself unless one of its names has to be changed to be stored. */
function underStoredNames(call: CallRecord): CallRecord {
  const id = nameOf(call.id);
  const session = nameOf(call.session);
  const tool = nameOf(call.tool);
  const agent = call.agent === null ? null : nameOf(call.agent);
  const key = call.key === null ? null : nameOf(call.key);
  const same = id === call.id && session === call.session && tool === call.tool;
  return same && agent === call.agent && key === call.key ? call : { ...call, id, session, tool, agent, key };
}

function nameOf(name: string): string {
  return storedName(name, sha256);
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

const MAX_CHARACTERS = 32 * 1024 * 1024;

function recordOf({ record }: CallEntry): CallRecord {
  return { ...record };
}

function keyOf({ session, key }: CallRecord): string {
  return JSON.stringify([session, key]);
}
