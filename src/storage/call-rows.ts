import type { CallRecord, CallState, Effect, Outcome } from '../kernel/call.ts';
import type { ApprovalRecord, ApprovalState, RuleRecord, SessionRecord } from '../kernel/ledger.ts';
import type { BlobStore } from '../kernel/ports.ts';
import { isPromise, type MaybePromise } from '../kernel/result.ts';
import { andThen, fromPayload } from './payload.ts';
import type { ApprovalTable, CallTable, SessionTable, Tables } from './tables.ts';

export function toCallRecord(blobs: BlobStore, row: CallTable): MaybePromise<CallRecord> {
  const args = fromPayload<unknown>(blobs, { data: row.args, blob: row.args_blob }, missing);
  const outcome = fromPayload<Outcome | null>(blobs, { data: row.outcome, blob: row.outcome_blob }, lostOutcome);
  if (isPromise(args) || isPromise(outcome)) {
    return Promise.all([args, outcome]).then(([someArgs, someOutcome]) => record(row, someArgs, someOutcome));
  }
  return record(row, args, outcome);
}

function record(row: CallTable, args: unknown, outcome: Outcome | null): CallRecord {
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
  return andThen(fromPayload<unknown>(blobs, { data: row.args, blob: row.args_blob }, missing), (given) => ({
    id: row.id,
    callId: row.call_id,
    session: row.session,
    tool: row.tool,
    // The blob is that of the event that asked.
    args: row.args_blob === null ? given : (given as { args?: unknown }).args,
    reason: row.reason,
    digest: row.digest,
    state: row.state as ApprovalState,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    message: row.message,
  }));
}

export function toRule(row: Tables['rules']): RuleRecord {
  const verdict = row.verdict as RuleRecord['verdict'];
  return { id: row.id, rule: row.rule, verdict, by: row.saved_by, savedAt: row.saved_at };
}

export function toSession(row: SessionTable): SessionRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastSeq: row.last_seq,
    prunedSeq: row.pruned_seq,
  };
}
