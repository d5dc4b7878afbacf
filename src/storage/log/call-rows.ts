import type { ApprovalRecord, ApprovalState, PresentedCall } from '../../kernel/call/approval.ts';
import type { CallRecord, CallState, Effect, Outcome } from '../../kernel/call/call.ts';
import type { EventData } from '../../kernel/call/event.ts';
import type { PathDecisionRecord, RuleRecord, SessionRecord } from '../../kernel/call/ledger.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import { andThen, type MaybePromise } from '../../kernel/result.ts';
import type { AnsweredCall, ApprovalTable, CallWithEnd, Tables } from '../sql/tables.ts';
import type { DescribedSession } from '../statements/log.ts';
import { combine, fromPayload } from './payload.ts';

export function toCallRecord(blobs: BlobStore, row: CallWithEnd | AnsweredCall): MaybePromise<CallRecord> {
  const args = fromPayload<unknown>(blobs, { data: row.args, blob: row.args_blob }, missing);
  return combine(args, outcomeOf(blobs, row), (someArgs, outcome) => toRecord(row, someArgs, outcome));
}

/** Reads the outcome from the row where it has one, otherwise from the event that ended the call. */
function outcomeOf(blobs: BlobStore, row: CallWithEnd): MaybePromise<Outcome | null> {
  const { outcome: data, outcome_blob: blob, ended_data = null, ended_blob = null } = row;
  if (data !== null || blob !== null) return fromPayload<Outcome | null>(blobs, { data, blob }, lostOutcome);
  if (row.finished_at === null) return null;
  const lost = (handle: string) => ({ outcome: lostOutcome(handle) });
  const ended = fromPayload<FinishedData | null>(blobs, { data: ended_data, blob: ended_blob }, lost);
  return andThen(ended, (told) => told?.outcome ?? null);
}

type FinishedData = Pick<EventData['call.finished'], 'outcome'>;

function toRecord(row: CallWithEnd | AnsweredCall, args: unknown, outcome: Outcome | null): CallRecord {
  const call: CallRecord = {
    id: row.id,
    session: row.session,
    agent: row.agent,
    tool: row.tool,
    args,
    key: row.key,
    effect: row.effect as Effect,
    state: row.state as CallState,
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    durationMs: row.duration_us === null ? null : row.duration_us / 1000,
    outcome,
    attempt: row.attempt,
    node: row.node === null ? null : { id: row.node, epoch: row.node_epoch ?? 0 },
    ...('approved_by' in row && { approvedBy: row.approved_by, deniedBy: row.denied_by }),
  };
  return row.digest === null ? call : { ...call, digest: row.digest };
}

function missing(handle: string): unknown {
  return { missing: handle };
}

function lostOutcome(handle: string): Outcome {
  const message = `The record of this outcome is lost: its blob ${handle} is missing or damaged. Restore it from a backup.`;
  return { ok: false, text: `Error: ${message}`, error: { code: 'INTERNAL', message } };
}

export function toApproval(blobs: BlobStore, row: ApprovalTable): MaybePromise<ApprovalRecord> {
  // Rows older than the column `asked` hold the arguments alone.
  const inline = row.asked === null && row.args_blob === null ? `{"args":${row.args ?? 'null'}}` : row.asked;
  const asked = fromPayload<QuestionPayload>(blobs, { data: inline, blob: row.args_blob }, (handle) => ({
    args: missing(handle),
  }));
  const decided = { data: row.decision, blob: row.decision_blob };
  const decision = fromPayload<DecisionPayload | null>(blobs, decided, () => null);
  return combine(asked, decision, ({ args, shown }, answer) => ({
    id: row.id,
    callId: row.call_id,
    session: row.session,
    tool: row.tool,
    args,
    reason: row.reason,
    digest: row.digest,
    shown: shown ?? null,
    state: row.state as ApprovalState,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    message: row.message,
    edited:
      answer?.args === undefined
        ? null
        : {
            args: answer.args,
            changed: answer.changed ?? [],
            digest: answer.digest ?? '',
            shown: answer.shown ?? null,
          },
  }));
}

type QuestionPayload = { args?: unknown; shown?: PresentedCall };
type DecisionPayload = Pick<EventData['approval.decided'], 'args' | 'changed' | 'digest' | 'shown'>;

export function toRule(row: Tables['rules']): RuleRecord {
  const verdict = row.verdict as RuleRecord['verdict'];
  return { id: row.id, rule: row.rule, verdict, by: row.saved_by, savedAt: row.saved_at, workspace: row.workspace };
}

export function toPathDecision(row: Tables['path_decisions']): PathDecisionRecord {
  const { id, workspace, path, digest, decided_by: by, decided_at: at } = row;
  return { id, workspace, path, kind: row.kind as PathDecisionRecord['kind'], digest, by, at };
}

export function toSession(row: DescribedSession): SessionRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastSeq: row.last_seq,
    prunedSeq: row.pruned_seq,
    workspace: row.workspace,
    title: row.title,
    agent: row.agent,
  };
}
