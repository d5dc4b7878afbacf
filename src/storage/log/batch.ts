import type { NodeStamp } from '../../kernel/call/call.ts';
import type { LogEvent } from '../../kernel/call/event.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { chainHash } from '../chain.ts';
import { type AnyNewEvent, EVENT_VERSIONS, type Written } from './event-rows.ts';
import type { Payload } from '../payload.ts';
import { ask, first, type Query, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { KnownCall } from '../sql/tables.ts';
import { whole } from '../whole.ts';

/** A recorded event whose place is filled in when its batch ends. */
type Placed = { -readonly [K in keyof LogEvent]: LogEvent[K] };

interface Staged {
  event: Placed;
  payload: Payload;
}

/** How much had been staged at a moment. */
interface Mark {
  staged: number;
  calls: number;
  changed: number;
}

/** One write: runs inside a transaction with others, and is undone alone if it fails. It catches no failed query. */
export type Unit<T> = (batch: Batch) => Work<T> | AtOnce<T>;

/** The answer of a unit that only stages, which asks the database nothing and cannot fail. */
export class AtOnce<T> {
  readonly value: T;
  constructor(value: T) {
    this.value = value;
  }
}

/**
 * The writes of one transaction. Units change projections at once and stage their events and new calls; at the end
 * all events get their places in one go:
 *   count them onto their sessions → take positions → hash → insert
 * The counters are taken in a fixed order and the global one last, so writers of several processes never wait for
 * each other in a circle, and positions become visible in their order.
 */
export class Batch {
  readonly sql: Statements;
  readonly node: NodeStamp;
  /** Around each unit. */
  readonly steps: Record<'savepoint' | 'release' | 'undo', Query>;
  readonly #staged: Staged[] = [];
  readonly #calls: { row: KnownCall; requested: Staged }[] = [];
  readonly #changed: { row: KnownCall; before: KnownCall }[] = [];
  readonly #byId = new Map<string, KnownCall>();
  readonly #byKey = new Map<string, KnownCall>();

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
    const placed = { type, callId, at: whole(event.at), data, session, seq: 0, pos: 0 } as Placed;
    this.#staged.push({ event: placed, payload });
    const ended = type === 'call.finished' && callId !== null ? this.#byId.get(callId) : undefined;
    if (ended !== undefined) [ended.ended_data, ended.ended_blob] = [payload.data, payload.blob];
    return placed as LogEvent;
  }

  /** After its event was staged. */
  stageCall(row: KnownCall): void {
    const requested = this.#staged.at(-1);
    if (requested === undefined) throw new Error('a call is staged after the event that requests it');
    this.#calls.push({ row, requested });
    this.#byId.set(row.id, row);
    if (row.key !== null) this.#byKey.set(keyOf(row.session, row.key), row);
  }

  /** A call that an earlier unit of this batch submitted. */
  stagedCall(id: string): KnownCall | undefined {
    return this.#byId.get(id);
  }
  stagedKey(session: string, key: string): KnownCall | undefined {
    return this.#byKey.get(keyOf(session, key));
  }

  /** Before a staged call is changed by a unit that may still fail. */
  rememberStaged(row: KnownCall): void {
    this.#changed.push({ row, before: { ...row } });
  }

  /** In the order of their places, once the batch is finished. */
  get written(): readonly Written[] {
    return this.#staged as readonly Written[];
  }

  mark(): Mark {
    return { staged: this.#staged.length, calls: this.#calls.length, changed: this.#changed.length };
  }

  /** Drops what was staged since the mark. */
  undo({ staged, calls, changed }: Mark): void {
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

/** True for trouble of the store itself: trying the units of a batch one by one would only meet it again. */
export function concernsAll(error: unknown): boolean {
  return error instanceof StoreError && error.trouble !== 'failed';
}

export type Settled = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * Runs every unit; one that fails is undone alone and the others go on. Throws when the transaction cannot be saved:
 * also for a unit that fails when there are no savepoints, or only this one unit.
 */
export function* runBatch(
  batch: Batch,
  units: readonly Unit<unknown>[],
  { savepoints = units.length > 1 }: { savepoints?: boolean } = {},
): Work<Settled[]> {
  const settled: Settled[] = [];
  for (const unit of units) {
    const work = unit(batch);
    if (work instanceof AtOnce) settled.push({ ok: true, value: work.value });
    else settled.push(savepoints ? yield* runAlone(batch, work) : { ok: true, value: yield* work });
  }
  yield* batch.finish();
  return settled;
}

/** A unit that only stages needs no savepoint: there is nothing in the database to undo. */
function* runAlone(batch: Batch, work: Work<unknown>): Work<Settled> {
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
      // The whole transaction is gone, so nothing of the batch can be kept: the first error says why.
      throw error;
    }
    return { ok: false, error };
  }
}
