import type { CallRecord } from '../../kernel/call/call.ts';
import type { CallMove, NewEvent } from '../../kernel/call/event.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import type { MaybePromise } from '../../kernel/result.ts';
import type { CallWithEnd } from '../sql/tables.ts';
import type { MovedColumns } from '../statements/calls.ts';
import {
  combine,
  type Payload,
  toInteger,
  toIntegerOrNull,
  toPayload,
  toStoredName,
  toStoredNameOrNull,
} from './payload.ts';
import type { PreparedMove } from './transactions.ts';

/**
 * Does before the transaction everything that may take time or fail: JSON, and blobs on disk. Returns at once when no
 * blob is needed.
 */
export function prepareCall(
  blobs: BlobStore,
  call: CallRecord,
): MaybePromise<{ row: CallWithEnd; event: NewEvent; payload: Payload }> {
  const { requestedAt: at, tool, args, effect, agent } = call;
  const callId = toStoredName(call.id);
  const event: NewEvent = { type: 'call.requested', callId, at, data: { tool, args, effect, agent } };
  return combine(toPayload(blobs, event.data), toPayload(blobs, args), (payload, kept) => {
    const row: CallWithEnd = {
      id: callId,
      pos: 0,
      session: toStoredName(call.session),
      first_seq: 0,
      agent: toStoredNameOrNull(agent),
      tool: toStoredName(tool),
      key: toStoredNameOrNull(call.key),
      digest: call.digest === undefined ? null : toStoredName(call.digest),
      effect,
      state: call.state,
      args: kept.data,
      args_blob: kept.blob,
      outcome: null,
      outcome_blob: null,
      artifact: null,
      requested_at: toInteger(at),
      started_at: toIntegerOrNull(call.startedAt),
      finished_at: toIntegerOrNull(call.finishedAt),
      duration_us: null,
      attempt: 0,
      node: null,
      node_epoch: null,
      ended_data: null,
      ended_blob: null,
    };
    return { row, event, payload };
  });
}

/** Prepares a move and its event. An outcome that the event holds is stored only there. */
export function prepareStep(
  blobs: BlobStore,
  move: CallMove,
  event: NewEvent,
): MaybePromise<{ prepared: PreparedMove; payload: Payload }> {
  const isTold = event.type === 'call.finished' && event.data.outcome === move.set?.outcome;
  const prepared = prepareMove(blobs, move, { withOutcome: !isTold });
  return combine(prepared, toPayload(blobs, event.data), (moved, payload) => ({ prepared: moved, payload }));
}

function prepareMove(
  blobs: BlobStore,
  move: CallMove,
  { withOutcome }: { withOutcome: boolean },
): MaybePromise<PreparedMove> {
  const { set } = move;
  if (set === undefined) return { move, columns: {} };
  const args = 'args' in set ? toPayload(blobs, set.args) : undefined;
  const outcome = withOutcome && set.outcome !== undefined ? toPayload(blobs, set.outcome) : undefined;
  return combine(args, outcome, (keptArgs, keptOutcome) => {
    const columns: MovedColumns = {};
    if (keptArgs !== undefined) {
      columns.args = keptArgs.data;
      columns.args_blob = keptArgs.blob;
    }
    if (set.effect !== undefined) columns.effect = set.effect;
    if (set.startedAt !== undefined) columns.started_at = toIntegerOrNull(set.startedAt);
    if (set.finishedAt !== undefined) columns.finished_at = toIntegerOrNull(set.finishedAt);
    if (set.durationMs !== undefined) columns.duration_us = toMicroseconds(set.durationMs);
    if (keptOutcome !== undefined) {
      columns.outcome = keptOutcome.data;
      columns.outcome_blob = keptOutcome.blob;
    }
    if (set.outcome?.artifact !== undefined) columns.artifact = toStoredName(set.outcome.artifact);
    return { move, columns };
  });
}

export function toMicroseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000);
}
