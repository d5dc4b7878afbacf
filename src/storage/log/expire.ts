import { EXPIRED_DECISION } from '../../kernel/call/approval.ts';
import type { Outcome } from '../../kernel/call/call.ts';
import type { NewEvent, StoredEvent } from '../../kernel/call/event.ts';
import { expiredFailure } from '../../kernel/call/expired-failure.ts';
import type { Engine } from '../engine.ts';
import { first, rows } from '../sql/statement.ts';
import type { ApprovalTable } from '../sql/tables.ts';
import type { StoreWrite } from './batch.ts';
import { toJson } from './payload.ts';
import { applyMove } from './transactions.ts';

/** Ends every approval whose time is over by the store's clock, and the call that waited for it. */
export async function expireOverdue(engine: Engine): Promise<readonly StoredEvent[]> {
  const now = await engine.now();
  const at = engine.wall();
  const overdue = await engine.read(() => rows(engine.sql.overdueApprovals, { now }));
  const ended = await Promise.all(overdue.map((approval) => engine.write(expireApproval(approval, at))));
  return ended.flat();
}

/** `at` is wall-clock time, for people; the deadline itself is judged by the clock of the store. */
function expireApproval(approval: ApprovalTable, at: number): StoreWrite<readonly StoredEvent[]> {
  return function* (batch) {
    const { id, call_id: callId, session, tool } = approval;
    const { by, message } = EXPIRED_DECISION;
    const decision = { id, state: 'expired', at, by, message, decision: null, decision_blob: null };
    if ((yield* first(batch.sql.decideApproval, decision)) === undefined) return [];
    const data = { approvalId: id, ...EXPIRED_DECISION };
    const events: NewEvent[] = [{ type: 'approval.decided', callId, at, data }];

    const outcome = outcomeOf(tool);
    const move = { from: ['awaiting_approval'], to: 'expired' } as const;
    if ((yield* applyMove(batch, callId, { move, columns: {} }, at)) !== undefined) {
      // Only the process that asked measured the duration, and it may be gone.
      const data = { tool, state: 'expired', outcome, durationMs: null } as const;
      events.push({ type: 'call.finished', callId, at, data });
    }
    return events.map(
      (event) => batch.stage(session, callId, event, { data: toJson(event.data), blob: null }) as StoredEvent,
    );
  };
}

function outcomeOf(tool: string): Outcome {
  const error = expiredFailure(tool);
  return { ok: false, text: `Error: ${error.message}`, error };
}
