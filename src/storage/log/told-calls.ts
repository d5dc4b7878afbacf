import { hash } from 'node:crypto';
import { type CallState, isFinal } from '../../kernel/call/call.ts';
import type { EventData } from '../../kernel/call/event.ts';
import type { Engine } from '../engine.ts';
import type { ApprovalTable, EventTable } from '../sql/tables.ts';
import type { ToldCall } from '../statements/calls.ts';
import { fromPayload, toJson, toStoredName, toStoredNameOrNull } from './payload.ts';
import { toMicroseconds } from './prepare.ts';
import { toApprovalRow, toDecidedColumns } from './projections.ts';

/** The row of a call as its events tell it. Undefined stands for what an older version did not tell. */
export interface CallFacts {
  readonly row: Omit<ToldCall, 'pos' | 'args' | 'args_blob' | 'outcome' | 'outcome_blob' | 'effect'>;
  readonly effect: string | undefined;
  /** Digests of the arguments and of the outcome; the outcome of a call that has not ended is null. */
  readonly args: string | undefined;
  readonly outcome: string | null;
}

/** All that the events of a session tell of its calls and of the questions about them, by their ids. */
export interface SessionFacts {
  readonly calls: Map<string, CallFacts>;
  readonly approvals: Map<string, ApprovalTable>;
}

/** Adds an event to the facts. Events must come in their order. */
export async function addFacts(engine: Engine, { calls, approvals }: SessionFacts, event: EventTable): Promise<void> {
  const { call_id: id, seq, at } = event;
  if (id === null) return;
  if (event.type === 'call.requested') {
    const data = await dataOf<EventData['call.requested']>(engine, event, ['tool']);
    if (data !== null) calls.set(id, requested(data, { id, seq, at }));
  }
  const known = calls.get(id);
  if (known === undefined) return;
  const told = (changes: Partial<CallFacts>, row: Partial<CallFacts['row']> = {}) =>
    calls.set(id, { ...known, ...changes, row: { ...known.row, ...row } });
  switch (event.type) {
    case 'call.requeued':
      told({}, { state: 'queued', started_at: null });
      return;
    case 'call.resumed':
      told({}, { state: 'requested' });
      return;
    case 'call.started': {
      const data = await dataOf<EventData['call.started']>(engine, event, ['tool']);
      const now = { state: 'running', started_at: at, attempt: known.row.attempt + 1 };
      told({ args: data === null ? undefined : digestOf(data.args), effect: data?.effect }, now);
      return;
    }
    case 'call.finished': {
      const data = await dataOf<EventData['call.finished']>(engine, event, ['state']);
      if (data !== null) told(...ended(known, data, at));
      return;
    }
    case 'approval.requested': {
      const data = await dataOf<EventData['approval.requested']>(engine, event, ['approvalId']);
      if (data === null) return;
      const row = toApprovalRow(event.session, { event: { callId: id, at, data }, payload: event });
      approvals.set(row.id, row);
      told({}, { state: 'awaiting_approval' });
      return;
    }
    case 'approval.decided': {
      const data = await dataOf<EventData['approval.decided']>(engine, event, ['approvalId']);
      const asked = data === null ? undefined : approvals.get(toStoredName(data.approvalId));
      // The first answer counts, and none after the end of the call.
      if (data === null || asked?.state !== 'pending' || isFinal(known.row.state as CallState)) return;
      const decided = toDecidedColumns({ event: { callId: id, at, data }, payload: event });
      const isKept = decided.state !== 'expired';
      approvals.set(asked.id, { ...asked, ...decided, ...(!isKept && { decision: null, decision_blob: null }) });
    }
  }
}

function requested(
  { tool, agent, args, effect }: EventData['call.requested'],
  { id, seq, at }: { id: string; seq: number; at: number },
): CallFacts {
  const never = { started_at: null, finished_at: null, duration_us: null, attempt: 0, artifact: null };
  const names = { tool: toStoredName(tool), agent: toStoredNameOrNull(agent ?? null) };
  const row = { id, first_seq: seq, ...names, state: 'requested', requested_at: at, ...never };
  return { row, effect, args: digestOf(args), outcome: null };
}

function ended(
  { row, args }: CallFacts,
  data: EventData['call.finished'],
  at: number,
): [Partial<CallFacts>, Partial<CallFacts['row']>] {
  const { state, outcome, durationMs } = data;
  const artifact = outcome?.artifact === undefined ? null : toStoredName(outcome.artifact);
  const now = { state, finished_at: at, duration_us: toMicroseconds(durationMs), artifact };
  return [{ args: endedArgs(), outcome: digestOf(outcome) }, now];

  /** The store itself ends calls without a duration, and leaves their arguments as they are. */
  function endedArgs(): string | undefined {
    if ('args' in data) return digestOf(data.args);
    return row.started_at !== null || durationMs === null ? args : undefined;
  }
}

/** A digest of a value as JSON, so that the facts of a long session stay small. */
export function digestOf(value: unknown): string {
  return hash('sha256', toJson(value), 'hex');
}

/** Null where it is lost or damaged, which walking the chain says: then it has not the texts that it needs. */
export async function dataOf<T>(engine: Engine, event: EventTable, texts: readonly (keyof T)[]): Promise<T | null> {
  const data = await fromPayload<T | null>(engine.blobs, event, () => null);
  return texts.every((name) => typeof data?.[name] === 'string') ? data : null;
}
