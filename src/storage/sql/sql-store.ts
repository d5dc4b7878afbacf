import type { ApprovalRecord } from '../../kernel/approval.ts';
import type { CallRecord, NodeStamp } from '../../kernel/call/call.ts';
import {
  type CallMove,
  type LogEvent,
  type NewEvent,
  type NewSessionEvent,
  type NewSystemEvent,
  type StoredEvent,
  type StoredSessionEvent,
  type StoredSystemEvent,
  SYSTEM_SESSION,
} from '../../kernel/call/event.ts';
import type {
  ApprovalQuery,
  HistoryQuery,
  Ledger,
  Progress,
  Pruned,
  PruneLimits,
  RuleRecord,
  SessionQuery,
  SessionRecord,
  Verification,
} from '../../kernel/call/ledger.ts';
import type { CallQuery, Hold, Page } from '../../kernel/ports.ts';
import { isPromise, type MaybePromise } from '../../kernel/result.ts';
import type { Unit } from '../log/batch.ts';
import { CallQueries } from '../log/call-query.ts';
import { toApproval, toCallRecord, toRule, toSession } from '../log/call-rows.ts';
import type { Engine } from '../engine.ts';
import { toLogEvent } from '../log/event-rows.ts';
import { expireOverdue } from '../log/expire.ts';
import { exportLines } from '../log/export.ts';
import { Followers } from '../followers.ts';
import { giveBackUnit, takeHold } from '../hold.ts';
import { nameOf } from '../names.ts';
import { andThen, together, toPayload } from '../payload.ts';
import { preparedCall, preparedStep } from '../prepare.ts';
import { clearLog, pruneLog } from '../log/prune.ts';
import { recoverUnit, suspects } from '../log/recovery.ts';
import { first, rows, type Work } from './statement.ts';
import { describedPage, newestPage } from '../statements/log.ts';
import type { ApprovalTable, CallTable, EventTable } from './tables.ts';
import { appendUnit, decideUnit, moveUnit, submitUnit } from '../log/transactions.ts';
import { verifyLog } from '../log/verify.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const SESSION_PAGE = 100;

/** The store over a SQL database. What it answers is durable; what it reads includes all that was answered. */
export class SqlStore implements Ledger {
  readonly onGivenUp?: (listener: () => void) => () => void;
  readonly #engine: Engine;
  readonly #queries: CallQueries;
  readonly #followers: Followers;
  /** Sessions that this process works on, and the life of it that took them. */
  readonly #held = new Map<string, number>();
  readonly #taking = new Set<string>();
  readonly #onClose: () => void;
  /** The latest step of a call whose blob is still being written. */
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(engine: Engine, { head, onClose }: { head: number; onClose(): void }) {
    this.#engine = engine;
    if (engine.onGivenUp !== undefined) this.onGivenUp = (listener) => engine.onGivenUp?.(listener) ?? (() => {});
    this.#queries = new CallQueries(engine.sql);
    this.#onClose = onClose;
    this.#followers = new Followers(engine, { head, log: (after, limit) => this.log(after, limit) });
  }

  get node(): NodeStamp {
    return this.#engine.node;
  }

  submit(call: CallRecord, sure?: { isNew: boolean }): Promise<{ call: CallRecord; event: StoredEvent | null }> {
    const unit = andThen(preparedCall(this.#engine.blobs, call), ({ row, event, payload }) =>
      submitUnit(row, event, payload, sure),
    );
    return this.#writeStep(call.id, unit).then((submitted) => {
      if (!('known' in submitted)) return { call: asKept(call, submitted.row), event: submitted.event };
      return andThen(toCallRecord(this.#engine.blobs, submitted.known), (known) => ({ call: known, event: null }));
    });
  }

  move(callId: string, move: CallMove, event: NewEvent): Promise<StoredEvent | null> {
    const unit = andThen(preparedStep(this.#engine.blobs, move, event), ({ prepared, payload }) =>
      moveUnit(nameOf(callId), prepared, event, payload),
    );
    return this.#writeStep(callId, unit);
  }

  /** The steps of one call keep their order, also when the blob of one takes longer than the next step. */
  #writeStep<T>(callId: string, unit: MaybePromise<Unit<T>>): Promise<T> {
    const before = this.#preparing.get(callId);
    if (before === undefined && !isPromise(unit)) return this.#engine.write(unit);
    const ready = Promise.all([unit, before]);
    const written = ready.then(([prepared]) => this.#engine.write(prepared));
    const forget = () => {
      if (this.#preparing.get(callId) === handedOn) this.#preparing.delete(callId);
    };
    const handedOn: Promise<void> = ready.then(forget, forget);
    this.#preparing.set(callId, handedOn);
    return written;
  }

  async append(session: string, events: readonly NewEvent[]): Promise<readonly StoredEvent[]> {
    const prepared = await Promise.all(
      events.map(async (event) => {
        const callId = event.callId === null ? null : nameOf(event.callId);
        return { event, callId, payload: await toPayload(this.#engine.blobs, event.data) };
      }),
    );
    const stored = await this.#engine.write(appendUnit(nameOf(session), prepared, this.#held.get(nameOf(session))));
    return stored as readonly StoredEvent[];
  }

  async hold(session: string): Promise<Hold> {
    const name = nameOf(session);
    const { epoch } = this.node;
    if (this.#taking.has(name) || this.#held.has(name)) return { holder: 'this process' };
    this.#taking.add(name);
    const holder = await takeHold(this.#engine, name).finally(() => this.#taking.delete(name));
    if (holder !== undefined) {
      const { where } = holder;
      return { holder: where === null ? 'another process' : `process ${where.pid} on ${where.host}` };
    }
    this.#held.set(name, epoch);
    const release = async () => {
      this.#held.delete(name);
      await this.#engine.write(giveBackUnit(name, epoch));
    };
    return { release };
  }

  async note(session: string, event: NewSessionEvent): Promise<StoredSessionEvent> {
    const payload = await toPayload(this.#engine.blobs, event.data);
    const stored = await this.#engine.write(appendUnit(nameOf(session), [{ event, callId: null, payload }]));
    return stored[0] as StoredSessionEvent;
  }

  async record(event: NewSystemEvent): Promise<StoredSystemEvent> {
    const payload = await toPayload(this.#engine.blobs, event.data);
    const stored = await this.#engine.write(appendUnit(SYSTEM_SESSION, [{ event, callId: null, payload }]));
    return stored[0] as StoredSystemEvent;
  }

  async decide(
    event: NewEvent<'approval.decided'>,
    rules: readonly NewSystemEvent<'rule.saved'>[] = [],
  ): Promise<StoredEvent | null> {
    const { blobs } = this.#engine;
    const payload = await toPayload(blobs, event.data);
    const saved = await Promise.all(
      rules.map(async (rule) => ({ event: rule, payload: await toPayload(blobs, rule.data) })),
    );
    const now = await this.#engine.now();
    return this.#engine.write(decideUnit(event, payload, now, saved));
  }

  expire(): Promise<readonly StoredEvent[]> {
    return expireOverdue(this.#engine);
  }

  async recover(): Promise<readonly StoredEvent[]> {
    const engine = this.#engine;
    const { ended, unsure } = await engine.read(() => suspects(engine.sql, this.node));
    const gone = [...ended, ...(unsure.length > 0 ? await engine.ended(unsure) : [])];
    if (gone.length === 0) return [];
    return engine.write(recoverUnit(engine, gone, engine.wall()));
  }

  call(callId: string): MaybePromise<CallRecord | null> {
    const { blobs, sql } = this.#engine;
    return andThen(
      this.#engine.read(() => first(sql.shownCall, { id: nameOf(callId) })),
      (row) => (row === undefined ? null : toCallRecord(blobs, row)),
    );
  }

  calls(query: CallQuery): MaybePromise<Page<CallRecord>> {
    return this.history(query);
  }

  history(query: HistoryQuery): MaybePromise<Page<CallRecord>> {
    const { blobs } = this.#engine;
    const { statement, values, limit } = this.#queries.prepare(query);
    return andThen(
      this.#engine.read(() => rows(statement, values)),
      (found) => {
        const page = found.slice(0, limit);
        const next = found.length > limit ? String(page.at(-1)?.pos) : null;
        return andThen(together(page.map((row) => toCallRecord(blobs, row))), (items) => ({ items, next }));
      },
    );
  }

  events(session: string, after = 0, limit = EVERYTHING): MaybePromise<readonly StoredEvent[]> {
    const { sql } = this.#engine;
    const values = { session: nameOf(session), after, limit };
    return this.#toEvents(() => rows(sql.eventsAfter, values)) as MaybePromise<readonly StoredEvent[]>;
  }

  log(after: number, limit: number): MaybePromise<readonly LogEvent[]> {
    return this.#toEvents(() => rows(this.#engine.sql.logAfter, { after, limit }));
  }

  sessions({ after, limit = SESSION_PAGE, newestFirst = false }: SessionQuery): MaybePromise<Page<SessionRecord>> {
    const { sql } = this.#engine;
    const byName = () => describedPage(sql, after === undefined ? undefined : nameOf(after), limit + 1);
    const work = newestFirst ? () => newestPage(sql, after, limit + 1) : byName;
    return andThen(this.#engine.read(work), (found) => {
      const items = found.slice(0, limit).map(toSession);
      const last = items.at(-1);
      if (found.length <= limit || last === undefined) return { items, next: null };
      return { items, next: newestFirst ? `${last.updatedAt}:${last.id}` : last.id };
    });
  }

  session(id: string): MaybePromise<SessionRecord | null> {
    const { sql } = this.#engine;
    const found = this.#engine.read(() => first(sql.describedSession, { session: nameOf(id) }));
    return andThen(found, (row) => (row === undefined ? null : toSession(row)));
  }

  approval(id: string): MaybePromise<ApprovalRecord | null> {
    return this.#toApproval(() => first(this.#engine.sql.approval, { id: nameOf(id) }));
  }

  approvalOf(callId: string): MaybePromise<ApprovalRecord | null> {
    return this.#toApproval(() => first(this.#engine.sql.latestApproval, { call: nameOf(callId) }));
  }

  approvals(query: ApprovalQuery): MaybePromise<readonly ApprovalRecord[]> {
    const { sql, blobs } = this.#engine;
    const values = {
      state: query.state ?? null,
      session: query.session === undefined ? null : nameOf(query.session),
      after: query.after === undefined ? null : nameOf(query.after),
      limit: query.limit ?? EVERYTHING,
    };
    return andThen(
      this.#engine.read(() => rows(sql.approvals, values)),
      (found) => together(found.map((row) => toApproval(blobs, row))),
    );
  }

  rules(): MaybePromise<readonly RuleRecord[]> {
    return andThen(
      this.#engine.read(() => rows(this.#engine.sql.rules, undefined)),
      (found) => found.map(toRule),
    );
  }

  toolStates(): MaybePromise<ReadonlyMap<string, boolean>> {
    return andThen(
      this.#engine.read(() => rows(this.#engine.sql.toolStates, undefined)),
      (found) => new Map(found.map(({ tool, enabled }) => [tool, enabled === 1])),
    );
  }

  follow(listener: (event: LogEvent) => void, after?: number): () => void {
    return this.#followers.add(listener, after);
  }

  now(): MaybePromise<number> {
    return this.#engine.now();
  }

  verify(session?: string, onProgress?: Progress): Promise<Verification> {
    return verifyLog(this.#engine, session === undefined ? undefined : nameOf(session), onProgress);
  }

  prune(limits: PruneLimits): Promise<Pruned> {
    return pruneLog(this.#engine, limits);
  }

  exportLines(query: { session?: string } = {}): AsyncIterable<string> {
    return exportLines(this.#engine, query.session === undefined ? {} : { session: nameOf(query.session) });
  }

  clear(): Promise<void> {
    return clearLog(this.#engine);
  }

  async close(): Promise<void> {
    this.#followers.stop();
    await this.#engine.close();
    this.#onClose();
  }

  #toApproval(work: () => Work<ApprovalTable | undefined>): MaybePromise<ApprovalRecord | null> {
    return andThen(this.#engine.read(work), (row) => (row === undefined ? null : toApproval(this.#engine.blobs, row)));
  }

  #toEvents(work: () => Work<readonly EventTable[]>): MaybePromise<readonly LogEvent[]> {
    return andThen(this.#engine.read(work), (found) =>
      together(found.map((row) => toLogEvent(this.#engine.blobs, row))),
    );
  }
}

/** What was given, under the names it is kept by. */
function asKept(call: CallRecord, { id, session, agent, tool, key, attempt, node, node_epoch }: CallTable): CallRecord {
  const stamp = node === null ? null : { id: node, epoch: node_epoch ?? 0 };
  return { ...call, id, session, agent, tool, key, attempt, node: stamp };
}
