import type { Effect, FinalState, NodeStamp, Outcome } from '../../kernel/call/call.ts';
import { cancelledBeforeStart } from '../../kernel/call/cancelled-outcome.ts';
import type { NewEvent, StoredEvent } from '../../kernel/call/event.ts';
import type { Engine } from '../engine.ts';
import { first, rows, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { CallTable } from '../sql/tables.ts';
import type { StoreWrite } from './batch.ts';
import { toJson } from './payload.ts';

/** Bounds how often a call is started that crashes its process each time. */
const MAX_ATTEMPTS = 3;

/** Finds the other nodes that own unfinished calls. `ended` have restarted under a later epoch since. */
export function* findSuspectNodes(sql: Statements, own: NodeStamp): Work<{ ended: NodeStamp[]; unsure: NodeStamp[] }> {
  const calls = yield* rows(sql.unfinishedCalls, undefined);
  const epochs = new Map((yield* rows(sql.nodes, undefined)).map(({ id, epoch }) => [id, epoch]));
  const stamps = new Map<string, NodeStamp>();
  for (const { node, node_epoch } of calls) {
    if (node === null || node_epoch === null || (node === own.id && node_epoch === own.epoch)) continue;
    stamps.set(`${node}:${node_epoch}`, { id: node, epoch: node_epoch });
  }
  const all = [...stamps.values()];
  const isOld = ({ id, epoch }: NodeStamp) => (epochs.get(id) ?? Number.MAX_SAFE_INTEGER) > epoch;
  return { ended: all.filter(isOld), unsure: all.filter((stamp) => !isOld(stamp)) };
}

/**
 * Releases the calls of ended processes. A call that never started, or may run again, is queued to be taken over; one
 * that ran and must not be repeated ends as `interrupted`. A call that awaits approval keeps waiting until there is an
 * answer, which the process that takes it over obeys. A cancelled call ends and never runs again.
 */
export function recoverCalls(
  engine: Engine,
  suspected: readonly NodeStamp[],
  at: number,
): StoreWrite<readonly StoredEvent[]> {
  return function* (batch) {
    const events: StoredEvent[] = [];
    const ended: NodeStamp[] = [];
    for (const stamp of suspected) {
      if (engine.evict === undefined || (yield* engine.evict(stamp))) ended.push(stamp);
    }
    if (ended.length === 0) return events;
    for (const { call, next, outcome } of yield* findAbandonedCalls(batch.sql, ended)) {
      const left = { id: call.id, node: call.node, epoch: call.node_epoch, state: call.state };
      // A queued call counts as not started, so an approval that it asks for later is closed with the call.
      const change = { to: next, started_at: outcome && call.started_at, finished_at: outcome && at };
      if ((yield* first(batch.sql.releaseCall, { ...left, ...change })) === undefined) continue;
      const event = outcome === null ? requeued(call, at) : finished(call, next, outcome, at);
      const payload = { data: toJson(event.data), blob: null };
      events.push(batch.stage(call.session, call.id, event, payload) as StoredEvent);
    }
    return events;
  };
}

/** A call of an ended process and its next state. A queued call has no outcome. */
type AbandonedCall =
  | { readonly call: CallTable; readonly next: 'queued'; readonly outcome: null }
  | { readonly call: CallTable; readonly next: 'interrupted' | 'cancelled'; readonly outcome: Outcome };

function* findAbandonedCalls(sql: Statements, ended: readonly NodeStamp[]): Work<readonly AbandonedCall[]> {
  const left: AbandonedCall[] = [];
  for (const call of yield* rows(sql.unfinishedCalls, undefined)) {
    if (!ended.some(({ id, epoch }) => id === call.node && epoch === call.node_epoch)) continue;
    const next = yield* nextStateOf(sql, call);
    if (next === 'queued') left.push({ call, next, outcome: null });
    else if (next === 'interrupted') left.push({ call, next, outcome: unknownOutcome(call) });
  }
  const [oldest] = left;
  if (oldest === undefined) return left;
  const cancels = new Set((yield* rows(sql.cancelledCalls, { from: oldest.call.pos })).map(({ call_id }) => call_id));
  return left.map((each) => (cancels.has(each.call.id) ? cancelled(each.call) : each));
}

function* nextStateOf(
  sql: Statements,
  { id, state, effect, attempt }: CallTable,
): Work<'queued' | 'interrupted' | undefined> {
  if (state === 'requested') return 'queued';
  if (state === 'awaiting_approval') {
    return (yield* first(sql.pendingApproval, { call: id })) === undefined ? 'queued' : undefined;
  }
  if (state !== 'running') return undefined;
  return REPEATABLE[effect as Effect] && attempt < MAX_ATTEMPTS ? 'queued' : 'interrupted';
}

function cancelled(call: CallTable): AbandonedCall {
  if (call.state !== 'running') return { call, next: 'cancelled', outcome: cancelledBeforeStart(call.tool) };
  const why = 'It was cancelled, so it will not run again.';
  return { call, next: 'interrupted', outcome: unknownOutcome(call, why) };
}

const REPEATABLE: Record<Effect, boolean> = { pure: true, idempotent: true, once: false };

function requeued({ id: callId, tool, attempt, state }: CallTable, at: number): NewEvent {
  const when = state === 'running' ? 'during the call, which may run again' : 'before the call started';
  return { type: 'call.requeued', callId, at, data: { tool, attempt, reason: `The process ended ${when}.` } };
}

/** The duration is unknown: it was measured by the clock of the process that ended. */
function finished({ id: callId, tool }: CallTable, state: FinalState, outcome: Outcome, at: number): NewEvent {
  return { type: 'call.finished', callId, at, data: { tool, state, outcome, durationMs: null } };
}

function unknownOutcome({ tool, effect, attempt }: CallTable, cancelled?: string): Outcome {
  const why =
    effect === 'once'
      ? 'Check what it did before you run it again.'
      : (cancelled ?? `It was started ${attempt} times and never finished.`);
  const message = `The process that ran ${tool} ended during the call, so the outcome is not known. ${why}`;
  const error = { code: 'CANCELLED' as const, message, details: { phase: 'interrupted', attempt } };
  return { ok: false, text: `Error: ${message}`, error };
}
