import type { Effect, FinalState, NodeStamp, Outcome } from '../../kernel/call/call.ts';
import { cancelledBeforeStart } from '../../kernel/call/cancelled-outcome.ts';
import type { NewEvent, StoredEvent } from '../../kernel/call/event.ts';
import type { Unit } from './batch.ts';
import type { Engine } from '../engine.ts';
import { toJson } from '../json.ts';
import { first, rows, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { CallTable } from '../sql/tables.ts';

/** A call that breaks its process again and again is not started for ever. */
const MOST_ATTEMPTS = 3;

/** The nodes that unfinished calls belong to, without our own, and which of them began a new life since. */
export function* suspects(sql: Statements, own: NodeStamp): Work<{ ended: NodeStamp[]; unsure: NodeStamp[] }> {
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
 * What a process left behind when it ended: what never started, or may be done again, waits to be taken over; what
 * was under way and may not be repeated ends as `interrupted`. A call that waits for a person goes on waiting, until
 * there is an answer: then whoever takes it over acts on that. What somebody cancelled ends, and never runs again.
 */
export function recoverUnit(engine: Engine, suspected: readonly NodeStamp[], at: number): Unit<readonly StoredEvent[]> {
  return function* (batch) {
    const events: StoredEvent[] = [];
    const ended: NodeStamp[] = [];
    for (const stamp of suspected) {
      if (engine.giveUp === undefined || (yield* engine.giveUp(stamp))) ended.push(stamp);
    }
    if (ended.length === 0) return events;
    for (const { call, next, outcome } of yield* leftBehind(batch.sql, ended)) {
      const left = { id: call.id, node: call.node, epoch: call.node_epoch, state: call.state };
      // What waits again has not started: a question it comes to ask is closed with it.
      const change = { to: next, started_at: outcome && call.started_at, finished_at: outcome && at };
      if ((yield* first(batch.sql.releaseCall, { ...left, ...change })) === undefined) continue;
      const event = outcome === null ? requeued(call, at) : finished(call, next, outcome, at);
      const payload = { data: toJson(event.data), blob: null };
      events.push(batch.stage(call.session, call.id, event, payload) as StoredEvent);
    }
    return events;
  };
}

/** What becomes of a call; there is no outcome of what waits again. */
type Left =
  | { readonly call: CallTable; readonly next: 'queued'; readonly outcome: null }
  | { readonly call: CallTable; readonly next: 'interrupted' | 'cancelled'; readonly outcome: Outcome };

function* leftBehind(sql: Statements, ended: readonly NodeStamp[]): Work<readonly Left[]> {
  const left: Left[] = [];
  for (const call of yield* rows(sql.unfinishedCalls, undefined)) {
    if (!ended.some(({ id, epoch }) => id === call.node && epoch === call.node_epoch)) continue;
    const next = yield* afterEnd(sql, call);
    if (next === 'queued') left.push({ call, next, outcome: null });
    else if (next === 'interrupted') left.push({ call, next, outcome: unknownOutcome(call) });
  }
  const [oldest] = left;
  if (oldest === undefined) return left;
  const cancels = new Set((yield* rows(sql.cancelledCalls, { from: oldest.call.pos })).map(({ call_id }) => call_id));
  return left.map((each) => (cancels.has(each.call.id) ? cancelled(each.call) : each));
}

function* afterEnd(
  sql: Statements,
  { id, state, effect, attempt }: CallTable,
): Work<'queued' | 'interrupted' | undefined> {
  if (state === 'requested') return 'queued';
  if (state === 'awaiting_approval') {
    return (yield* first(sql.pendingApproval, { call: id })) === undefined ? 'queued' : undefined;
  }
  if (state !== 'running') return undefined;
  return REPEATABLE[effect as Effect] && attempt < MOST_ATTEMPTS ? 'queued' : 'interrupted';
}

function cancelled(call: CallTable): Left {
  if (call.state !== 'running') return { call, next: 'cancelled', outcome: cancelledBeforeStart(call.tool) };
  const why = 'It was cancelled, so it does not run again.';
  return { call, next: 'interrupted', outcome: unknownOutcome(call, why) };
}

const REPEATABLE: Record<Effect, boolean> = { pure: true, idempotent: true, once: false };

function requeued({ id: callId, tool, attempt, state }: CallTable, at: number): NewEvent {
  const when = state === 'running' ? 'while it ran, and it may run again' : 'before it started';
  return { type: 'call.requeued', callId, at, data: { tool, attempt, reason: `Its process ended ${when}.` } };
}

/** How long it ran nobody can tell: the clock that measured it ended with its process. */
function finished({ id: callId, tool }: CallTable, state: FinalState, outcome: Outcome, at: number): NewEvent {
  return { type: 'call.finished', callId, at, data: { tool, state, outcome, durationMs: null } };
}

function unknownOutcome({ tool, effect, attempt }: CallTable, cancelled?: string): Outcome {
  const why =
    effect === 'once'
      ? 'Look at what it did before you run it again.'
      : (cancelled ?? `It was started ${attempt} times and never came to its end.`);
  const message = `The process that ran ${tool} ended while it ran, so its outcome is not known. ${why}`;
  const error = { code: 'CANCELLED' as const, message, details: { phase: 'interrupted', attempt } };
  return { ok: false, text: `Error: ${message}`, error };
}
