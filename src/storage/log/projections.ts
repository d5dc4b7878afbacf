import { stateOfDecision } from '../../kernel/call/approval.ts';
import type { NewEvent, SystemEventData } from '../../kernel/call/event.ts';
import { storableText } from '../../kernel/call/stored-name.ts';
import { first, type Work } from '../sql/statement.ts';
import type { Tables } from '../sql/tables.ts';
import type { Batch } from './batch.ts';
import type { AnyNewEvent } from './event-rows.ts';
import type { Payload } from './payload.ts';
import { toInteger, toJson, toStoredName, toStoredNameOrNull, toStoredTextOrNull } from './payload.ts';

/** Returns false for the events that every call has: they change only the row of the call. */
export function hasProjection(type: AnyNewEvent['type']): boolean {
  return !type.startsWith('call.');
}

/** Updates every table that an event changes beside the row of its call, in the transaction that appends the event. */
export function* updateProjections(
  batch: Batch,
  session: string,
  { event, payload }: { event: AnyNewEvent; payload: Payload },
): Work<void> {
  const { sql } = batch;
  const at = toInteger(event.at);
  switch (event.type) {
    case 'approval.requested': {
      yield* first(sql.insertApproval, toApprovalRow(session, { event, payload }));
      return;
    }
    case 'approval.decided': {
      const { id, decided_at, decided_by, ...decided } = toDecidedColumns({ event, payload });
      yield* first(sql.decideApproval, { id, at: decided_at, by: decided_by, ...decided });
      return;
    }
    case 'session.created': {
      const { workspace, title, agent } = event.data;
      const named = {
        workspace: toStoredName(workspace),
        title: toStoredTextOrNull(title),
        agent: toStoredNameOrNull(agent),
      };
      yield* first(sql.openSession, { id: session, ...named });
      return;
    }
    case 'rule.saved': {
      yield* first(sql.saveRule, toRuleRow(event.data, at));
      return;
    }
    case 'rule.removed':
      yield* first(sql.removeRule, { id: toStoredName(event.data.ruleId) });
      return;
    case 'path.decided': {
      yield* first(sql.decidePath, toDecisionRow(event.data, at));
      return;
    }
    case 'path.taken_back':
      yield* first(sql.takePathBack, { id: toStoredName(event.data.decisionId) });
      return;
    case 'tool.switched': {
      yield* first(sql.switchTool, toToolRow(event.data, at));
      return;
    }
  }
}

interface Recorded<T extends 'approval.requested' | 'approval.decided'> {
  readonly event: Pick<NewEvent<T>, 'callId' | 'at' | 'data'>;
  readonly payload: Payload;
}

/** The row of a question. Arguments too large for a row are inside the blob of the event, and `toApproval` unwraps them. */
export function toApprovalRow(
  session: string,
  { event: { callId, at, data }, payload }: Recorded<'approval.requested'>,
): Tables['approvals'] {
  const { approvalId, tool, args, reason, digest, expiresAt } = data;
  return {
    id: toStoredName(approvalId),
    call_id: toStoredName(callId),
    session,
    tool: toStoredName(tool),
    args: payload.blob === null ? toJson(args) : null,
    args_blob: payload.blob,
    reason: storableText(reason),
    digest: toStoredName(digest),
    asked: payload.data,
    state: 'pending',
    requested_at: toInteger(at),
    expires_at: expiresAt === undefined ? null : toInteger(expiresAt),
    decided_at: null,
    decided_by: null,
    message: null,
    decision: null,
    decision_blob: null,
  };
}

/** The columns of a question that its answer sets, with its id. */
export function toDecidedColumns({ event: { at, data }, payload }: Recorded<'approval.decided'>) {
  const { approvalId, by, message } = data;
  return {
    id: toStoredName(approvalId),
    state: stateOfDecision(data),
    decided_at: toInteger(at),
    decided_by: toStoredNameOrNull(by),
    message: toStoredTextOrNull(message),
    decision: payload.data,
    decision_blob: payload.blob,
  };
}

/** The row of a saved rule. */
export function toRuleRow(data: SystemEventData['rule.saved'], at: number): Tables['rules'] {
  const { ruleId, rule, verdict, by, workspace = null } = data;
  const saved = {
    id: toStoredName(ruleId),
    rule: storableText(rule),
    verdict,
    saved_by: toStoredNameOrNull(by ?? null),
  };
  return { ...saved, saved_at: at, workspace: toStoredNameOrNull(workspace) };
}

/** The row of a decision about a path. */
export function toDecisionRow(data: SystemEventData['path.decided'], at: number): Tables['path_decisions'] {
  const { decisionId, workspace, path, kind, digest, by } = data;
  return {
    id: toStoredName(decisionId),
    workspace: toStoredName(workspace),
    path: storableText(path),
    kind,
    digest,
    decided_by: toStoredName(by),
    decided_at: at,
  };
}

/** The row of a switched tool. */
export function toToolRow({ tool, enabled }: SystemEventData['tool.switched'], at: number): Tables['tool_states'] {
  return { tool: toStoredName(tool), enabled: enabled ? 1 : 0, changed_at: at };
}
