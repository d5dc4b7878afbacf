import type { ApprovalState } from '../kernel/approval.ts';
import type { EventData } from '../kernel/call/event.ts';
import { storableText } from '../kernel/call/stored-name.ts';
import type { Batch } from './log/batch.ts';
import type { AnyNewEvent } from './log/event-rows.ts';
import { toJson } from './json.ts';
import { maybeName, nameOf } from './names.ts';
import type { Payload } from './payload.ts';
import { first, type Work } from './sql/statement.ts';
import { whole } from './whole.ts';

/** False for the events of every call: they change only its row. */
export function hasProjection(type: AnyNewEvent['type']): boolean {
  return !type.startsWith('call.');
}

/** Nobody said no when nobody was there any more. */
export function decidedState({ approved, by, message }: EventData['approval.decided']): ApprovalState {
  if (approved) return 'approved';
  if (by !== null) return 'denied';
  return message === 'expired' ? 'expired' : message === 'cancelled' ? 'superseded' : 'denied';
}

/** What an event changes beside its call's row. Runs in the transaction that appends it, and nowhere else. */
export function* project(batch: Batch, session: string, event: AnyNewEvent, payload: Payload): Work<void> {
  const { sql } = batch;
  const at = whole(event.at);
  switch (event.type) {
    case 'approval.requested': {
      const { approvalId: id, tool, args, reason, digest, expiresAt } = event.data;
      // Arguments too big for a row are inside the event's blob; the row points there and the reader unwraps.
      const inline = payload.blob === null ? toJson(args) : null;
      yield* first(sql.insertApproval, {
        id: nameOf(id),
        call_id: nameOf(event.callId),
        session,
        tool: nameOf(tool),
        args: inline,
        args_blob: payload.blob,
        reason: storableText(reason),
        digest: nameOf(digest),
        asked: payload.data,
        state: 'pending',
        requested_at: at,
        expires_at: expiresAt === undefined ? null : whole(expiresAt),
        decided_at: null,
        decided_by: null,
        message: null,
        decision: null,
        decision_blob: null,
      });
      return;
    }
    case 'approval.decided': {
      const { approvalId: id, by, message } = event.data;
      const state = decidedState(event.data);
      const kept = { decision: payload.data, decision_blob: payload.blob };
      yield* first(sql.decideApproval, {
        id: nameOf(id),
        state,
        at,
        by: maybeName(by),
        message: maybeText(message),
        ...kept,
      });
      return;
    }
    case 'session.created': {
      const { workspace, title, agent } = event.data;
      const named = { workspace: nameOf(workspace), title: maybeText(title ?? undefined), agent: maybeName(agent) };
      yield* first(sql.openSession, { id: session, ...named });
      return;
    }
    case 'rule.saved': {
      const { ruleId: id, rule, verdict, by, workspace = null } = event.data;
      const saved = { id: nameOf(id), rule: storableText(rule), verdict, saved_by: maybeName(by), saved_at: at };
      yield* first(sql.saveRule, { ...saved, workspace: maybeName(workspace) });
      return;
    }
    case 'rule.removed':
      yield* first(sql.removeRule, { id: nameOf(event.data.ruleId) });
      return;
    case 'tool.switched': {
      const { tool, enabled } = event.data;
      yield* first(sql.switchTool, { tool: nameOf(tool), enabled: enabled ? 1 : 0, changed_at: at });
      return;
    }
  }
}

export function maybeText(text: string | undefined): string | null {
  return text === undefined ? null : storableText(text);
}
