import type { CallRecord } from '../kernel/call.ts';
import type { CallMove, NewEvent } from '../kernel/event.ts';
import type { BlobStore } from '../kernel/ports.ts';
import { plainText } from './json.ts';
import { type Payload, toPayload } from './payload.ts';
import type { MovedColumns } from './statements.ts';
import type { CallTable } from './tables.ts';
import type { PreparedMove } from './units.ts';

/** Everything that takes time or may fail happens here, before the transaction: JSON, and blobs on disk. */
export async function preparedCall(
  blobs: BlobStore,
  call: CallRecord,
): Promise<{ row: CallTable; event: NewEvent; payload: Payload }> {
  const { id: callId, requestedAt: at, tool, args, effect, agent } = call;
  const event: NewEvent = { type: 'call.requested', callId, at, data: { tool, args, effect, agent } };
  const payload = await toPayload(blobs, event.data);
  const kept = await toPayload(blobs, args);
  const row: CallTable = {
    id: call.id,
    pos: 0,
    session: plainText(call.session),
    first_seq: 0,
    agent: agent === null ? null : plainText(agent),
    tool: plainText(tool),
    key: call.key === null ? null : plainText(call.key),
    effect,
    state: call.state,
    args: kept.data,
    args_blob: kept.blob,
    outcome: null,
    outcome_blob: null,
    artifact: null,
    requested_at: at,
    started_at: call.startedAt,
    finished_at: call.finishedAt,
    duration_us: null,
    attempt: 0,
    node: null,
    node_epoch: null,
  };
  return { row, event, payload };
}

export async function preparedMove(blobs: BlobStore, move: CallMove): Promise<PreparedMove> {
  const { args, effect, startedAt, finishedAt, durationMs, outcome } = move.set ?? {};
  const columns: MovedColumns = {};
  if (move.set !== undefined && 'args' in move.set) {
    const payload = await toPayload(blobs, args);
    columns.args = payload.data;
    columns.args_blob = payload.blob;
  }
  if (effect !== undefined) columns.effect = effect;
  if (startedAt !== undefined) columns.started_at = startedAt;
  if (finishedAt !== undefined) columns.finished_at = finishedAt;
  if (durationMs !== undefined) columns.duration_us = durationMs === null ? null : Math.round(durationMs * 1000);
  if (outcome !== undefined) {
    const payload = await toPayload(blobs, outcome);
    columns.outcome = payload.data;
    columns.outcome_blob = payload.blob;
    if (outcome?.artifact !== undefined) columns.artifact = outcome.artifact;
  }
  return { move, columns };
}
