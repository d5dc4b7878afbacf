import type { NodeStamp } from '../../kernel/call/call.ts';
import type { LogEvent } from '../../kernel/call/event.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { ask, first, type Query, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { CallWithEnd } from '../sql/tables.ts';
import { type AnyNewEvent, chainHash, EVENT_VERSIONS, type WrittenEvent } from './event-rows.ts';
import type { Payload } from './payload.ts';
import { toInteger } from './payload.ts';

/** A recorded event whose sequence number and position are filled in when its batch ends. */
type MutableEvent = { -readonly [K in keyof LogEvent]: LogEvent[K] };

interface StagedEvent {
  event: MutableEvent;
  payload: Payload;
}

/** Counts of everything staged so far, to roll back to. */
interface BatchMark {
  staged: number;
  calls: number;
  changed: number;
}

/**
 * One write. It shares a transaction with others and is undone alone if it fails, so it must not catch failed queries.
 */
export type StoreWrite<T> = (batch: Batch) => Work<T> | ImmediateResult<T>;

/** The result of a write that only stages: it sends no query and cannot fail. */
export class ImmediateResult<T> {
  readonly value: T;
  constructor(value: T) {
    this.value = value;
  }
}

/**
 * The writes of one transaction. Each write changes projections at once and stages its events and new calls; at the end
 * all events get their sequence numbers and positions together:
 *   count them onto their sessions → take positions → hash → insert
 * Counters are taken in a fixed order, the global one last, so writers of several processes never deadlock, and
 * positions become visible in order.
 */
export class Batch {
  readonly sql: Statements;
  readonly node: NodeStamp;
  /** The statements around each write that may be undone alone. */
  readonly steps: Record<'savepoint' | 'release' | 'undo', Query>;
  readonly #staged: StagedEvent[] = [];
  readonly #calls: { row: CallWithEnd; requested: StagedEvent }[] = [];
  readonly #changed: { row: CallWithEnd; before: CallWithEnd }[] = [];
  readonly #byId = new Map<string, CallWithEnd>();
  readonly #byKey = new Map<string, CallWithEnd>();

  constructor(sql: Statements, node: NodeStamp) {
    this.sql = sql;
    this.steps = {
      savepoint: ask(sql.savepoint, undefined),
      release: ask(sql.release, undefined),
      undo: ask(sql.undo, undefined),
    };
    this.node = node;
  }

  stage(session: string, callId: string | null, event: AnyNewEvent, payload: Payload): LogEvent {
    const { type, data } = event;
    const placed = { type, callId, at: toInteger(event.at), data, session, seq: 0, pos: 0 } as MutableEvent;
    this.#staged.push({ event: placed, payload });
    const ended = type === 'call.finished' && callId !== null ? this.#byId.get(callId) : undefined;
    if (ended !== undefined) [ended.ended_data, ended.ended_blob] = [payload.data, payload.blob];
    return placed as LogEvent;
  }

  /** Call it right after staging the event that requests the call. */
  stageCall(row: CallWithEnd): void {
    const requested = this.#staged.at(-1);
    if (requested === undefined) throw new Error('a call is staged after the event that requests it');
    this.#calls.push({ row, requested });
    this.#byId.set(row.id, row);
    if (row.key !== null) this.#byKey.set(keyOf(row.session, row.key), row);
  }

  /** Returns a call that an earlier write of this batch submitted. */
  stagedCall(id: string): CallWithEnd | undefined {
    return this.#byId.get(id);
  }
  stagedKey(session: string, key: string): CallWithEnd | undefined {
    return this.#byKey.get(keyOf(session, key));
  }

  /** Saves a staged call before a write changes it that may still fail. */
  rememberStaged(row: CallWithEnd): void {
    this.#changed.push({ row, before: { ...row } });
  }

  /** The events in order of position; complete once the batch is finished. */
  get written(): readonly WrittenEvent[] {
    return this.#staged as readonly WrittenEvent[];
  }

  mark(): BatchMark {
    return { staged: this.#staged.length, calls: this.#calls.length, changed: this.#changed.length };
  }

  /** Drops everything staged since the mark. */
  undo({ staged, calls, changed }: BatchMark): void {
    this.#staged.length = staged;
    for (const { row, before } of this.#changed.splice(changed).reverse()) Object.assign(row, before);
    for (const { row } of this.#calls.splice(calls)) {
      this.#byId.delete(row.id);
      if (row.key !== null) this.#byKey.delete(keyOf(row.session, row.key));
    }
  }

  *finish(): Work<void> {
    if (this.#staged.length === 0) return;
    const heads = yield* this.#takeSequences();
    const head = yield* first(this.sql.takePos, { count: this.#staged.length });
    if (head === undefined) throw new Error('the log has no head row');
    let pos = head.pos - this.#staged.length;

    const rows = this.#staged.map(({ event, payload }) => {
      const session = heads.get(event.session) ?? { seq: 0, hash: '' };
      event.seq = ++session.seq;
      event.pos = ++pos;
      const { type, at, callId: call_id, seq } = event;
      const version = EVENT_VERSIONS[type];
      const { data, blob } = payload;
      const row = { pos, session: event.session, seq, type, version, call_id, at, data, blob, hash: '' };
      row.hash = chainHash(session.hash, row);
      session.hash = row.hash;
      return row;
    });
    yield* this.sql.insertEvents(rows);
    for (const { row, requested } of this.#calls) {
      row.pos = requested.event.pos;
      row.first_seq = requested.event.seq;
    }
    yield* this.sql.insertCalls(this.#calls.map(({ row }) => row));
    for (const [session, { hash }] of heads) yield ask(this.sql.setHead, { session, hash });
  }

  *#takeSequences(): Work<Map<string, { seq: number; hash: string }>> {
    const counts = new Map<string, { count: number; at: number }>();
    for (const { event } of this.#staged) {
      const seen = counts.get(event.session);
      if (seen === undefined) counts.set(event.session, { count: 1, at: event.at });
      else seen.count++;
    }
    const heads = new Map<string, { seq: number; hash: string }>();
    for (const session of [...counts.keys()].sort()) {
      const { count, at } = counts.get(session) ?? { count: 0, at: 0 };
      const head = yield* first(this.sql.takeSeq, { session, count, at });
      if (head === undefined) throw new Error(`session ${session} has no head row`);
      heads.set(session, { seq: head.last_seq - count, hash: head.last_hash });
    }
    return heads;
  }
}

function keyOf(session: string, key: string): string {
  return JSON.stringify([session, key]);
}

/** Returns true for trouble of the store itself: each write of the batch, tried alone, would only meet it again. */
export function affectsWholeBatch(error: unknown): boolean {
  return error instanceof StoreError && error.trouble !== 'failed';
}

export type SettledWrite = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Runs every write; one that fails is undone alone and the others go on. Throws when the transaction is lost, which
 * includes any failed write without savepoints, the default for a single write.
 */
export function* runBatch(
  batch: Batch,
  writes: readonly StoreWrite<unknown>[],
  { savepoints = writes.length > 1 }: { savepoints?: boolean } = {},
): Work<SettledWrite[]> {
  const settled: SettledWrite[] = [];
  for (const write of writes) {
    const work = write(batch);
    if (work instanceof ImmediateResult) settled.push({ ok: true, value: work.value });
    else settled.push(savepoints ? yield* runAlone(batch, work) : { ok: true, value: yield* work });
  }
  yield* batch.finish();
  return settled;
}

/** Takes a savepoint at the first query: a write that only stages has nothing in the database to undo. */
function* runAlone(batch: Batch, work: Work<unknown>): Work<SettledWrite> {
  const { savepoint, release, undo } = batch.steps;
  const mark = batch.mark();
  let saved = false;
  try {
    let step = work.next();
    if (step.done) return { ok: true, value: step.value };
    saved = true;
    yield savepoint;
    while (!step.done) step = work.next(yield step.value);
    yield release;
    return { ok: true, value: step.value };
  } catch (error) {
    batch.undo(mark);
    if (!saved) return { ok: false, error };
    try {
      yield undo;
      yield release;
    } catch {
      // The whole transaction is lost, and with it the batch. The first error says why.
      throw error;
    }
    return { ok: false, error };
  }
}
