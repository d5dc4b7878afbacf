import type { CallRecord } from '../kernel/call/call.ts';
import type { CallMove, NewEvent } from '../kernel/call/event.ts';
import type { BlobStore } from '../kernel/ports.ts';
import type { MaybePromise } from '../kernel/result.ts';
import { maybeName, nameOf } from './names.ts';
import { both, type Payload, toPayload } from './payload.ts';
import type { MovedColumns } from './statements/calls.ts';
import type { KnownCall } from './sql/tables.ts';
import type { PreparedMove } from './log/transactions.ts';
import { whole } from './whole.ts';

/**
 * Everything that may take time or fail happens here, before the transaction: JSON, and blobs on disk. Without a blob
 * the answer is there at once.
 */
export function preparedCall(
  blobs: BlobStore,
  call: CallRecord,
): MaybePromise<{ row: KnownCall; event: NewEvent; payload: Payload }> {
  const { requestedAt: at, tool, args, effect, agent } = call;
  const callId = nameOf(call.id);
  const event: NewEvent = { type: 'call.requested', callId, at, data: { tool, args, effect, agent } };
  return both(toPayload(blobs, event.data), toPayload(blobs, args), (payload, kept) => {
    const row: KnownCall = {
      id: callId,
      pos: 0,
      session: nameOf(call.session),
      first_seq: 0,
      agent: maybeName(agent),
      tool: nameOf(tool),
      key: maybeName(call.key),
      digest: call.digest === undefined ? null : nameOf(call.digest),
      effect,
      state: call.state,
      args: kept.data,
      args_blob: kept.blob,
      outcome: null,
      outcome_blob: null,
      artifact: null,
      requested_at: whole(at),
      started_at: maybeWhole(call.startedAt),
      finished_at: maybeWhole(call.finishedAt),
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

/** A move and the event that tells it. An outcome that the event says is kept there alone. */
export function preparedStep(
  blobs: BlobStore,
  move: CallMove,
  event: NewEvent,
): MaybePromise<{ prepared: PreparedMove; payload: Payload }> {
  const isTold = event.type === 'call.finished' && event.data.outcome === move.set?.outcome;
  const prepared = preparedMove(blobs, move, { withOutcome: !isTold });
  return both(prepared, toPayload(blobs, event.data), (moved, payload) => ({ prepared: moved, payload }));
}

function preparedMove(
  blobs: BlobStore,
  move: CallMove,
  { withOutcome }: { withOutcome: boolean },
): MaybePromise<PreparedMove> {
  const { set } = move;
  if (set === undefined) return { move, columns: {} };
  const args = 'args' in set ? toPayload(blobs, set.args) : undefined;
  const outcome = withOutcome && set.outcome !== undefined ? toPayload(blobs, set.outcome) : undefined;
  return both(args, outcome, (keptArgs, keptOutcome) => {
    const columns: MovedColumns = {};
    if (keptArgs !== undefined) {
      columns.args = keptArgs.data;
      columns.args_blob = keptArgs.blob;
    }
    if (set.effect !== undefined) columns.effect = set.effect;
    if (set.startedAt !== undefined) columns.started_at = maybeWhole(set.startedAt);
    if (set.finishedAt !== undefined) columns.finished_at = maybeWhole(set.finishedAt);
    if (set.durationMs !== undefined) columns.duration_us = microseconds(set.durationMs);
    if (keptOutcome !== undefined) {
      columns.outcome = keptOutcome.data;
      columns.outcome_blob = keptOutcome.blob;
    }
    if (set.outcome?.artifact !== undefined) columns.artifact = nameOf(set.outcome.artifact);
    return { move, columns };
  });
}

function maybeWhole(value: number | null): number | null {
  return value === null ? null : whole(value);
}

function microseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000);
}
