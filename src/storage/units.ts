import { isFinal } from '../kernel/call.ts';
import type { CallMove, LogEvent, NewEvent, StoredEvent } from '../kernel/event.ts';
import { StoreError } from '../kernel/store-error.ts';
import type { Batch, Unit } from './batch.ts';
import type { AnyNewEvent } from './event-rows.ts';
import { stillHolds } from './hold.ts';
import { maybeName, nameOf } from './names.ts';
import type { Payload } from './payload.ts';
import { decidedState, hasProjection, maybeText, project } from './project.ts';
import { ask, first, type Work } from './statement.ts';
import { ANY_ATTEMPT, type MovedColumns } from './statements/calls.ts';
import type { CallTable } from './tables.ts';
import { whole } from './whole.ts';

/** A new call, or the one that has this id or key already. */
export type Submitted = { known: CallTable } | { event: StoredEvent; row: CallTable };

export function submitUnit(
  given: CallTable,
  requested: NewEvent,
  payload: Payload,
  sure?: { isNew: boolean },
): Unit<Submitted> {
  const { id, session, key } = given;
  return function* (batch) {
    const { sql, node } = batch;
    if (sure?.isNew !== true) {
      let known = batch.stagedCall(id) ?? ((yield ask(sql.call, { id })) as readonly CallTable[])[0];
      if (known === undefined && key !== null) {
        known = batch.stagedKey(session, key) ?? (yield* first(sql.callByKey, { session, key }));
      }
      if (known !== undefined) return { known };
    }
    const event = batch.stage(session, id, requested, payload);
    // A copy: the unit may run again if its connection broke.
    const row = { ...given, node: node.id, node_epoch: node.epoch };
    batch.stageCall(row);
    return { event: event as StoredEvent, row };
  };
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
    if (hasProjection(event.type)) yield* project(batch, session, event, payload);
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
  const { sql, node } = batch;
  const { to } = move;
  const starts = to === 'running' ? 1 : 0;
  const ends = isFinal(to);
  const written: MovedColumns = { ...columns };
  if (starts === 1 || to === 'requested') {
    written.node = node.id;
    written.node_epoch = node.epoch;
  }
  if (ends) written.finished_at ??= whole(at);

  const staged = batch.stagedCall(callId);
  if (staged !== undefined) {
    if (!(move.from as readonly string[]).includes(staged.state)) return undefined;
    if (move.attempt !== undefined && move.attempt !== staged.attempt) return undefined;
    batch.changeStaged(staged, { ...written, state: to, attempt: staged.attempt + starts });
    if (ends && staged.started_at === null) yield ask(sql.closeApprovals, { call: callId, at: whole(at) });
    return staged.session;
  }
  const statement = sql.moveCall(Object.keys(written) as (keyof MovedColumns)[]);
  const values = Object.assign(written, {
    id: callId,
    to,
    starts,
    attempt: move.attempt ?? ANY_ATTEMPT,
    my_node: node.id,
    my_epoch: node.epoch,
    from0: move.from[0] ?? '',
    from1: move.from[1] ?? '',
    from2: move.from[2] ?? '',
    from3: move.from[3] ?? '',
  }) as Parameters<typeof statement.bind>[0];
  const [moved] = (yield ask(statement, values)) as readonly { session: string; started_at: number | null }[];
  if (moved === undefined) return undefined;
  if (ends && moved.started_at === null) yield ask(sql.closeApprovals, { call: callId, at: whole(at) });
  return moved.session;
}

/** `heldSince`: only as long as this process has the session that it took in that life of it. */
export function appendUnit(
  session: string,
  events: readonly { event: AnyNewEvent; callId: string | null; payload: Payload }[],
  heldSince?: number,
): Unit<readonly LogEvent[]> {
  return function* (batch) {
    if (heldSince !== undefined && !(yield* stillHolds(batch, session, heldSince))) throw takenOver(session);
    const stored: LogEvent[] = [];
    for (const { event, callId, payload } of events) {
      yield* project(batch, session, event, payload);
      stored.push(batch.stage(session, callId, event, payload));
    }
    return stored;
  };
}

function takenOver(session: string): StoreError {
  return new StoreError('failed', `this process was silent for so long that session ${session} may be another's now`);
}

/** The first decision about a pending approval, and the move of its call with it: both or neither. */
export function decideUnit(
  event: NewEvent<'approval.decided'>,
  payload: Payload,
  now: number,
  move?: PreparedMove,
): Unit<StoredEvent | null> {
  return function* (batch) {
    const { approvalId, by, message } = event.data;
    const id = nameOf(approvalId);
    const known = yield* first(batch.sql.approval, { id });
    if (known === undefined || known.state !== 'pending') return null;
    if (known.expires_at !== null && known.expires_at <= now) return null;
    const state = decidedState(event.data);
    const kept = { decision: payload.data, decision_blob: payload.blob };
    const answer = { state, at: whole(event.at), by: maybeName(by), message: maybeText(message) };
    const decision = { id, ...answer, ...kept };
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
