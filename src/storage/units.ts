import { isFinal } from '../kernel/call.ts';
import type { CallMove, LogEvent, NewEvent, StoredEvent } from '../kernel/event.ts';
import type { Batch, Unit } from './batch.ts';
import type { AnyNewEvent } from './event-rows.ts';
import type { Payload } from './payload.ts';
import { project } from './project.ts';
import { first, type Work } from './statement.ts';
import { ANY_ATTEMPT, type MovedColumns } from './statements.ts';
import type { CallTable } from './tables.ts';

/** A new call, or the one that has this id or key already. */
export type Submitted = { known: CallTable } | { event: StoredEvent; row: CallTable };

export function submitUnit(given: CallTable, requested: NewEvent, payload: Payload): Unit<Submitted> {
  return function* (batch) {
    const known = yield* knownCall(batch, given);
    if (known !== undefined) return { known };
    const row = { ...given, node: batch.node.id, node_epoch: batch.node.epoch };
    const event = batch.stage(row.session, row.id, requested, payload);
    batch.stageCall(row);
    return { event: event as StoredEvent, row };
  };
}

function* knownCall(batch: Batch, { id, session, key }: CallTable): Work<CallTable | undefined> {
  const { sql } = batch;
  const byId = batch.stagedCall(id) ?? (yield* first(sql.call, { id }));
  if (byId !== undefined || key === null) return byId;
  return batch.stagedKey(session, key) ?? (yield* first(sql.callByKey, { session, key }));
}

/** A move with the columns it writes beside the state. */
export interface PreparedMove {
  readonly move: CallMove;
  readonly columns: MovedColumns;
}

export function moveUnit(
  callId: string,
  prepared: PreparedMove,
  event: NewEvent,
  payload: Payload,
): Unit<StoredEvent | null> {
  return function* (batch) {
    const session = yield* applyMove(batch, callId, prepared, event.at);
    if (session === undefined) return null;
    yield* project(batch, session, event, payload);
    return batch.stage(session, callId, event, payload) as StoredEvent;
  };
}

/** The session of the call, or undefined when it is not where the move starts. */
export function* applyMove(
  batch: Batch,
  callId: string,
  { move, columns }: PreparedMove,
  at: number,
): Work<string | undefined> {
  const starts = move.to === 'running' ? 1 : 0;
  const { id: my_node, epoch: my_epoch } = batch.node;
  const takes = starts === 1 || move.to === 'requested';
  const written: MovedColumns = takes ? { ...columns, node: my_node, node_epoch: my_epoch } : { ...columns };
  if (isFinal(move.to)) written.finished_at ??= at;

  const staged = batch.stagedCall(callId);
  if (staged !== undefined) {
    if (!(move.from as readonly string[]).includes(staged.state)) return undefined;
    Object.assign(staged, written, { state: move.to, attempt: staged.attempt + starts });
    return staged.session;
  }
  const [from0 = '', from1 = '', from2 = '', from3 = ''] = move.from;
  const attempt = move.attempt ?? ANY_ATTEMPT;
  const statement = batch.sql.moveCall(Object.keys(written) as (keyof MovedColumns)[]);
  const slots = { id: callId, to: move.to, starts, attempt, my_node, my_epoch, from0, from1, from2, from3 };
  const moved = yield* first(statement, { ...slots, ...written } as Parameters<typeof statement.bind>[0]);
  if (moved === undefined) return undefined;
  if (isFinal(move.to) && moved.started_at === null) yield* first(batch.sql.closeApprovals, { call: callId, at });
  return moved.session;
}

export function appendUnit(
  session: string,
  events: readonly { event: AnyNewEvent; callId: string | null; payload: Payload }[],
): Unit<readonly LogEvent[]> {
  return function* (batch) {
    const stored: LogEvent[] = [];
    for (const { event, callId, payload } of events) {
      yield* project(batch, session, event, payload);
      stored.push(batch.stage(session, callId, event, payload));
    }
    return stored;
  };
}

/** The first decision about a pending approval, and the move of its call with it: both or neither. */
export function decideUnit(
  event: NewEvent<'approval.decided'>,
  payload: Payload,
  now: number,
  move?: PreparedMove,
): Unit<StoredEvent | null> {
  return function* (batch) {
    const { approvalId: id, approved, by, message } = event.data;
    const known = yield* first(batch.sql.approval, { id });
    if (known === undefined || known.state !== 'pending') return null;
    if (known.expires_at !== null && known.expires_at <= now) return null;
    const state = approved ? 'approved' : 'denied';
    const decision = { id, state, at: event.at, by, message: message ?? null };
    const decided = yield* first(batch.sql.decideApproval, decision);
    if (decided === undefined) return null;
    if (move !== undefined && (yield* applyMove(batch, known.call_id, move, event.at)) === undefined) {
      throw new MoveRefused();
    }
    return batch.stage(known.session, known.call_id, event, payload) as StoredEvent;
  };
}

/** Undoes a unit whose first half was already written. Not an Error: it is an answer, and nobody reads its stack. */
export class MoveRefused {}
