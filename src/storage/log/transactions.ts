import { type CallState, isFinal } from '../../kernel/call/call.ts';
import {
  type CallMove,
  type LogEvent,
  type NewEvent,
  type NewSystemEvent,
  type StoredEvent,
  SYSTEM_SESSION,
} from '../../kernel/call/event.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { ask, first, type Work } from '../sql/statement.ts';
import type { CallWithEnd } from '../sql/tables.ts';
import { ANY_EPOCH, type MovedColumns } from '../statements/calls.ts';
import { type Batch, ImmediateResult, type StoreWrite } from './batch.ts';
import type { AnyNewEvent } from './event-rows.ts';
import type { Payload } from './payload.ts';
import { toInteger } from './payload.ts';
import { hasProjection, toDecidedColumns, updateProjections } from './projections.ts';
import { isStillHeld } from './session-hold.ts';

/** A new call, or the call that already has this id or key. */
export type SubmittedCall = { known: CallWithEnd } | { event: StoredEvent; row: CallWithEnd };

export function submitCall(
  { row: given, event: requested, payload }: { row: CallWithEnd; event: NewEvent; payload: Payload },
  sure?: { isNew: boolean },
): StoreWrite<SubmittedCall> {
  const { id, session, key } = given;
  if (sure?.isNew) return (batch) => new ImmediateResult(stageNew(batch));
  return function* (batch) {
    const { sql } = batch;
    let known = batch.stagedCall(id) ?? ((yield ask(sql.call, { id })) as readonly CallWithEnd[])[0];
    if (known === undefined && key !== null) {
      known = batch.stagedKey(session, key) ?? (yield* first(sql.callByKey, { session, key }));
    }
    return known === undefined ? stageNew(batch) : { known };
  };

  function stageNew(batch: Batch): SubmittedCall {
    const { node } = batch;
    const event = batch.stage(session, id, requested, payload);
    // A copy: the unit may run again if its connection broke.
    const row = { ...given, node: node.id, node_epoch: node.epoch };
    batch.stageCall(row);
    return { event: event as StoredEvent, row };
  }
}

/** A move with the columns it writes beside the state. */
export interface PreparedMove {
  readonly move: CallMove;
  readonly columns: MovedColumns;
}

export function moveCall(
  callId: string,
  { prepared, payload }: { prepared: PreparedMove; payload: Payload },
  event: NewEvent,
): StoreWrite<StoredEvent | null> {
  return (batch) => {
    const staged = hasProjection(event.type) ? undefined : batch.stagedCall(callId);
    // Only a call that never started may have left a pending approval, which takes a query to close.
    if (staged === undefined || (isFinal(prepared.move.to) && staged.started_at === null)) return moveLater(batch);
    const session = moveStaged(batch, staged, prepared, event.at);
    return new ImmediateResult(session === undefined ? null : told(batch, session));
  };

  function* moveLater(batch: Batch): Work<StoredEvent | null> {
    const session = yield* applyMove(batch, callId, prepared, event.at);
    if (session === undefined) return null;
    if (hasProjection(event.type)) yield* updateProjections(batch, session, { event, payload });
    return told(batch, session);
  }

  function told(batch: Batch, session: string): StoredEvent {
    return batch.stage(session, callId, event, payload) as StoredEvent;
  }
}

/** Returns the session of the call, or undefined when the call is in none of the states that the move starts from. */
export function* applyMove(batch: Batch, callId: string, prepared: PreparedMove, at: number): Work<string | undefined> {
  const { sql, node } = batch;
  const { move } = prepared;
  const { to } = move;
  const ends = isFinal(to);
  const staged = batch.stagedCall(callId);
  if (staged !== undefined) {
    batch.rememberStaged(staged);
    const session = moveStaged(batch, staged, prepared, at);
    if (session !== undefined && ends && staged.started_at === null) {
      yield ask(sql.closeApprovals, { call: callId, at: toInteger(at) });
    }
    return session;
  }
  // A copy: the unit may run again if its connection broke.
  const written: MovedColumns = { ...prepared.columns };
  addOwnColumns(written, batch, to, at);
  const statement = sql.moveCall(Object.keys(written) as (keyof MovedColumns)[]);
  const values = Object.assign(written, {
    id: callId,
    to,
    starts: startsOf(to),
    epoch: move.epoch ?? ANY_EPOCH,
    my_node: node.id,
    my_epoch: node.epoch,
    from0: move.from[0] ?? '',
    from1: move.from[1] ?? '',
    from2: move.from[2] ?? '',
    from3: move.from[3] ?? '',
  }) as Parameters<typeof statement.bind>[0];
  const [moved] = (yield ask(statement, values)) as readonly { session: string; started_at: number | null }[];
  if (moved === undefined) return undefined;
  if (ends && moved.started_at === null) yield ask(sql.closeApprovals, { call: callId, at: toInteger(at) });
  return moved.session;
}

/** Moves a call that an earlier write of this batch submitted: its row is not inserted yet and is changed in place. */
function moveStaged(batch: Batch, staged: CallWithEnd, prepared: PreparedMove, at: number): string | undefined {
  const { to, from, epoch } = prepared.move;
  if (!(from as readonly string[]).includes(staged.state)) return undefined;
  if (epoch !== undefined && epoch !== staged.node_epoch) return undefined;
  Object.assign(staged, prepared.columns);
  addOwnColumns(staged, batch, to, at);
  staged.state = to;
  staged.attempt += startsOf(to);
  return staged.session;
}

function addOwnColumns(columns: MovedColumns, { node }: Batch, to: CallState, at: number): void {
  if (to === 'running' || to === 'requested') {
    columns.node = node.id;
    columns.node_epoch = node.epoch;
  }
  if (isFinal(to)) columns.finished_at ??= toInteger(at);
}

function startsOf(to: CallState): number {
  return to === 'running' ? 1 : 0;
}

/**
 * With `heldSince`, an epoch of this process, the write fails unless the process still holds the session since then.
 */
export function appendEvents(
  session: string,
  events: readonly { event: AnyNewEvent; callId: string | null; payload: Payload }[],
  heldSince?: number,
): StoreWrite<readonly LogEvent[]> {
  return function* (batch) {
    if (heldSince !== undefined && !(yield* isStillHeld(batch, session, heldSince))) throw sessionLost(session);
    const stored: LogEvent[] = [];
    for (const prepared of events) {
      yield* updateProjections(batch, session, prepared);
      stored.push(batch.stage(session, prepared.callId, prepared.event, prepared.payload));
    }
    return stored;
  };
}

function sessionLost(session: string): StoreError {
  return new StoreError('failed', `this process was silent for so long that session ${session} may be another's now`);
}

/** Records the first decision about a pending approval together with the rules that it saves, or neither. */
export function decideApproval(
  { event, payload }: { event: NewEvent<'approval.decided'>; payload: Payload },
  now: number,
  rules: readonly { event: NewSystemEvent<'rule.saved'>; payload: Payload }[],
): StoreWrite<StoredEvent | null> {
  return function* (batch) {
    const { id, decided_at, decided_by, ...columns } = toDecidedColumns({ event, payload });
    const known = yield* first(batch.sql.approval, { id });
    if (known === undefined || known.state !== 'pending') return null;
    if (columns.state !== 'expired' && known.expires_at !== null && known.expires_at <= now) return null;
    const decided = yield* first(batch.sql.decideApproval, { id, at: decided_at, by: decided_by, ...columns });
    if (decided === undefined) return null;
    for (const rule of rules) {
      yield* updateProjections(batch, SYSTEM_SESSION, rule);
      batch.stage(SYSTEM_SESSION, null, rule.event, rule.payload);
    }
    return batch.stage(known.session, known.call_id, event, payload) as StoredEvent;
  };
}
