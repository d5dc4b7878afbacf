import { randomUUID } from 'node:crypto';
import type { CallRecord, FinalState, Outcome } from '../kernel/call/call.ts';
import type { CallMove, NewEvent } from '../kernel/call/event.ts';

/** A realistic wall-clock time in milliseconds. */
export const AT = 1_700_000_000_000;

export function requestedCall(given: Partial<CallRecord> = {}): CallRecord {
  return {
    id: randomUUID(),
    session: 's1',
    agent: null,
    tool: 'read_file',
    args: { path: 'a.txt' },
    key: null,
    effect: 'once',
    state: 'requested',
    requestedAt: AT,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    outcome: null,
    ...given,
  };
}

export function started(call: CallRecord, at = AT + 1): [string, CallMove, NewEvent] {
  const { id: callId, tool, args, effect } = call;
  const data = { tool, args, summary: tool, access: [] };
  const move: CallMove = {
    from: ['requested', 'awaiting_approval'],
    to: 'running',
    set: { args, effect, startedAt: at },
  };
  return [callId, move, { type: 'call.started', callId, at, data }];
}

export function finished(
  call: CallRecord,
  { state = 'succeeded', at = AT + 2, outcome = OK }: { state?: FinalState; at?: number; outcome?: Outcome } = {},
): [string, CallMove, NewEvent] {
  const { id: callId, tool, args } = call;
  const durationMs = 1.5;
  const move: CallMove = {
    from: ['requested', 'awaiting_approval', 'queued', 'running'],
    to: state,
    set: { args, finishedAt: at, durationMs, outcome },
  };
  return [callId, move, { type: 'call.finished', callId, at, data: { tool, state, outcome, durationMs } }];
}

const OK: Outcome = { ok: true, text: 'hello', value: 'hello' };

export function asked(
  call: CallRecord,
  approvalId: string,
  { at = AT + 1, expiresAt }: { at?: number; expiresAt?: number } = {},
): [string, CallMove, NewEvent] {
  const { id: callId, tool, args } = call;
  const data = { approvalId, tool, args, reason: 'It writes.', digest: 'd1', ...(expiresAt && { expiresAt }) };
  const move: CallMove = { from: ['requested'], to: 'awaiting_approval' };
  return [callId, move, { type: 'approval.requested', callId, at, data }];
}

export function decided(
  call: CallRecord,
  approvalId: string,
  { approved = true, by = 'ann', at = AT + 2 }: { approved?: boolean; by?: string | null; at?: number } = {},
): NewEvent<'approval.decided'> {
  return { type: 'approval.decided', callId: call.id, at, data: { approvalId, approved, by } };
}
