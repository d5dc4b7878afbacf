import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { CallRecord, NodeStamp } from '../../kernel/call/call.ts';
import {
  type CallMove,
  type FollowOptions,
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
  PathDecisionRecord,
  Progress,
  PruneLimits,
  PruneReport,
  RuleRecord,
  SessionQuery,
  SessionRecord,
  Verification,
} from '../../kernel/call/ledger.ts';
import type { CallQuery, Page, SessionHold } from '../../kernel/ports.ts';
import { andThen, isPromise, type MaybePromise } from '../../kernel/result.ts';
import type { Engine } from '../engine.ts';
import { Followers } from '../follow/followers.ts';
import type { StoreWrite } from '../log/batch.ts';
import { CallQueries } from '../log/call-query.ts';
import { toApproval, toCallRecord, toPathDecision, toRule, toSession } from '../log/call-rows.ts';
import { toLogEvent } from '../log/event-rows.ts';
import { expireOverdue } from '../log/expire.ts';
import { exportLines } from '../log/export.ts';
import { resolveAll, toPayload, toStoredName } from '../log/payload.ts';
import { prepareCall, prepareStep } from '../log/prepare.ts';
import { clearLog, pruneLog } from '../log/prune.ts';
import { findSuspectNodes, recoverCalls } from '../log/recovery.ts';
import { holdSession, releaseSession } from '../log/session-hold.ts';
import { appendEvents, decideApproval, moveCall, submitCall } from '../log/transactions.ts';
import { verifyLog } from '../log/verify.ts';
import { describedPage, newestPage } from '../statements/log.ts';
import { first, rows, type Work } from './statement.ts';
import type { ApprovalTable, CallTable, EventTable } from './tables.ts';

const EVERYTHING = Number.MAX_SAFE_INTEGER;
const SESSION_PAGE = 100;

/** The store over a SQL database. A write that resolved is durable, and every later read sees it. */
export class SqlStore implements Ledger {
  readonly onGivenUp?: (listener: () => void) => () => void;
  readonly #engine: Engine;
  readonly #queries: CallQueries;
  readonly #followers: Followers;
  /** Sessions that this process holds, each with the epoch in which it took the session. */
  readonly #held = new Map<string, number>();
  readonly #taking = new Set<string>();
  readonly #onClose: () => void;
  /** The latest step of each call that has a blob still being written. */
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(engine: Engine, { head, onClose }: { head: number; onClose(): void }) {
    this.#engine = engine;
    if (engine.onEvicted !== undefined) this.onGivenUp = (listener) => engine.onEvicted?.(listener) ?? (() => {});
    this.#queries = new CallQueries(engine.sql);
    this.#onClose = onClose;
    this.#followers = new Followers(engine, { head, log: (after, limit) => this.log(after, limit) });
  }

  get node(): NodeStamp {
    return this.#engine.node;
  }

  submit(call: CallRecord, sure?: { isNew: boolean }): Promise<{ call: CallRecord; event: StoredEvent | null }> {
    const write = andThen(prepareCall(this.#engine.blobs, call), (prepared) => submitCall(prepared, sure));
    return this.#writeStep(call.id, write).then((submitted) => {
      if (!('known' in submitted)) return { call: asKept(call, submitted.row), event: submitted.event };
      return andThen(toCallRecord(this.#engine.blobs, submitted.known), (known) => ({ call: known, event: null }));
    });
  }

  move(callId: string, move: CallMove, event: NewEvent): Promise<StoredEvent | null> {
    const write = andThen(prepareStep(this.#engine.blobs, move, event), (step) =>
      moveCall(toStoredName(callId), step, event),
    );
    return this.#writeStep(callId, write);
  }

  /** Keeps the steps of one call in order, also when the blob of one takes longer than the next step. */
  #writeStep<T>(callId: string, write: MaybePromise<StoreWrite<T>>): Promise<T> {
    const before = this.#preparing.get(callId);
    if (before === undefined && !isPromise(write)) return this.#engine.write(write);
    const ready = Promise.all([write, before]);
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
        const callId = event.callId === null ? null : toStoredName(event.callId);
        return { event, callId, payload: await toPayload(this.#engine.blobs, event.data) };
      }),
    );
    const stored = await this.#engine.write(
      appendEvents(toStoredName(session), prepared, this.#held.get(toStoredName(session))),
    );
    return stored as readonly StoredEvent[];
  }

  async hold(session: string): Promise<SessionHold> {
    const name = toStoredName(session);
    const { epoch } = this.node;
    if (this.#taking.has(name) || this.#held.has(name)) return { holder: 'this process' };
    this.#taking.add(name);
    const holder = await holdSession(this.#engine, name).finally(() => this.#taking.delete(name));
    if (holder !== undefined) {
      const { where } = holder;
      return { holder: where === null ? 'another process' : `process ${where.pid} on ${where.host}` };
    }
    this.#held.set(name, epoch);
    const release = async () => {
      this.#held.delete(name);
      await this.#engine.write(releaseSession(name, epoch));
    };
    return { release };
  }

  async note(session: string, event: NewSessionEvent): Promise<StoredSessionEvent> {
    const payload = await toPayload(this.#engine.blobs, event.data);
    const stored = await this.#engine.write(appendEvents(toStoredName(session), [{ event, callId: null, payload }]));
    return stored[0] as StoredSessionEvent;
  }

  async record(event: NewSystemEvent): Promise<StoredSystemEvent> {
    const payload = await toPayload(this.#engine.blobs, event.data);
    const stored = await this.#engine.write(appendEvents(SYSTEM_SESSION, [{ event, callId: null, payload }]));
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
    return this.#engine.write(decideApproval({ event, payload }, now, saved));
  }

  expire(): Promise<readonly StoredEvent[]> {
    return expireOverdue(this.#engine);
  }

  async recover(): Promise<readonly StoredEvent[]> {
    const engine = this.#engine;
    const { ended, unsure } = await engine.read(() => findSuspectNodes(engine.sql, this.node));
    const gone = [...ended, ...(unsure.length > 0 ? await engine.ended(unsure) : [])];
    if (gone.length === 0) return [];
    return engine.write(recoverCalls(engine, gone, engine.wall()));
  }

  call(callId: string): MaybePromise<CallRecord | null> {
    const { blobs, sql } = this.#engine;
    return andThen(
      this.#engine.read(() => first(sql.shownCall, { id: toStoredName(callId) })),
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
        return andThen(resolveAll(page.map((row) => toCallRecord(blobs, row))), (items) => ({ items, next }));
      },
    );
  }

  events(session: string, after = 0, limit = EVERYTHING): MaybePromise<readonly StoredEvent[]> {
    const { sql } = this.#engine;
    const values = { session: toStoredName(session), after, limit };
    return this.#toEvents(() => rows(sql.eventsAfter, values)) as MaybePromise<readonly StoredEvent[]>;
  }

  log(after: number, limit: number): MaybePromise<readonly LogEvent[]> {
    return this.#toEvents(() => rows(this.#engine.sql.logAfter, { after, limit }));
  }

  sessions({ after, limit = SESSION_PAGE, newestFirst = false }: SessionQuery): MaybePromise<Page<SessionRecord>> {
    const { sql } = this.#engine;
    const byName = () => describedPage(sql, after === undefined ? undefined : toStoredName(after), limit + 1);
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
    const found = this.#engine.read(() => first(sql.describedSession, { session: toStoredName(id) }));
    return andThen(found, (row) => (row === undefined ? null : toSession(row)));
  }

  approval(id: string): MaybePromise<ApprovalRecord | null> {
    return this.#toApproval(() => first(this.#engine.sql.approval, { id: toStoredName(id) }));
  }

  approvalOf(callId: string): MaybePromise<ApprovalRecord | null> {
    return this.#toApproval(() => first(this.#engine.sql.latestApproval, { call: toStoredName(callId) }));
  }

  approvals(query: ApprovalQuery): MaybePromise<readonly ApprovalRecord[]> {
    const { sql, blobs } = this.#engine;
    const values = {
      state: query.state ?? null,
      session: query.session === undefined ? null : toStoredName(query.session),
      after: query.after === undefined ? null : toStoredName(query.after),
      limit: query.limit ?? EVERYTHING,
    };
    return andThen(
      this.#engine.read(() => rows(sql.approvals, values)),
      (found) => resolveAll(found.map((row) => toApproval(blobs, row))),
    );
  }

  rules(): MaybePromise<readonly RuleRecord[]> {
    return andThen(
      this.#engine.read(() => rows(this.#engine.sql.rules, undefined)),
      (found) => found.map(toRule),
    );
  }

  pathDecisions(): MaybePromise<readonly PathDecisionRecord[]> {
    return andThen(
      this.#engine.read(() => rows(this.#engine.sql.pathDecisions, undefined)),
      (found) => found.map(toPathDecision),
    );
  }

  toolStates(): MaybePromise<ReadonlyMap<string, boolean>> {
    return andThen(
      this.#engine.read(() => rows(this.#engine.sql.toolStates, undefined)),
      (found) => new Map(found.map(({ tool, enabled }) => [tool, enabled === 1])),
    );
  }

  follow(listener: (event: LogEvent) => void, options: FollowOptions = {}): () => void {
    return this.#followers.add(listener, options);
  }

  now(): MaybePromise<number> {
    return this.#engine.now();
  }

  verify(session?: string, onProgress?: Progress): Promise<Verification> {
    return verifyLog(this.#engine, session === undefined ? undefined : toStoredName(session), onProgress);
  }

  prune(limits: PruneLimits): Promise<PruneReport> {
    return pruneLog(this.#engine, limits);
  }

  exportLines(query: { session?: string } = {}): AsyncIterable<string> {
    return exportLines(this.#engine, query.session === undefined ? {} : { session: toStoredName(query.session) });
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
      resolveAll(found.map((row) => toLogEvent(this.#engine.blobs, row))),
    );
  }
}

/** Returns the given call under the names that the store uses for it. */
function asKept(call: CallRecord, { id, session, agent, tool, key, attempt, node, node_epoch }: CallTable): CallRecord {
  const stamp = node === null ? null : { id: node, epoch: node_epoch ?? 0 };
  return { ...call, id, session, agent, tool, key, attempt, node: stamp };
}
