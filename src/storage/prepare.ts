import type { CallRecord } from '../kernel/call.ts';
import type { CallMove, EventData, NewEvent } from '../kernel/event.ts';
import type { BlobStore } from '../kernel/ports.ts';
import type { MaybePromise } from '../kernel/result.ts';
import { toJson } from './json.ts';
import { maybeName, nameOf } from './names.ts';
import { both, keptText, type Payload, toPayload } from './payload.ts';
import type { MovedColumns } from './statements/calls.ts';
import type { CallTable } from './tables.ts';
import type { PreparedMove } from './units.ts';
import { whole } from './whole.ts';

/**
 * Everything that may take time or fail happens here, before the transaction: JSON, and blobs on disk. Without a blob
 * the answer is there at once.
 */
export function preparedCall(
  blobs: BlobStore,
  call: CallRecord,
): MaybePromise<{ row: CallTable; event: NewEvent; payload: Payload }> {
  const { requestedAt: at, tool, args, effect, agent } = call;
  const callId = nameOf(call.id);
  const event: NewEvent = { type: 'call.requested', callId, at, data: { tool, args, effect, agent } };
  return both(toPayload(blobs, event.data), toPayload(blobs, args), (payload, kept) => {
    const row: CallTable = {
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
    };
    return { row, event, payload };
  });
}

/** A move and the event that tells it, which may say the same outcome: a long one is made into JSON once. */
export function preparedStep(
  blobs: BlobStore,
  move: CallMove,
  event: NewEvent,
): MaybePromise<{ prepared: PreparedMove; payload: Payload }> {
  const outcome = move.set?.outcome;
  const text = outcome == null ? undefined : toJson(outcome);
  const said = event.type === 'call.finished' && text !== undefined && event.data.outcome === outcome;
  const payload = said ? keptText(blobs, finishedJson(event.data, text)) : toPayload(blobs, event.data);
  return both(preparedMove(blobs, move, text), payload, (prepared, kept) => ({ prepared, payload: kept }));
}

function finishedJson({ outcome: _, ...rest }: EventData['call.finished'], outcome: string): string {
  return `${toJson(rest).slice(0, -1)},"outcome":${outcome}}`;
}

export function preparedMove(blobs: BlobStore, move: CallMove, outcomeJson?: string): MaybePromise<PreparedMove> {
  const { set } = move;
  if (set === undefined) return { move, columns: {} };
  const args = 'args' in set ? toPayload(blobs, set.args) : undefined;
  const outcome = set.outcome === undefined ? undefined : keptText(blobs, outcomeJson ?? toJson(set.outcome));
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
      if (set.outcome?.artifact !== undefined) columns.artifact = nameOf(set.outcome.artifact);
    }
    return { move, columns };
  });
}

function maybeWhole(value: number | null): number | null {
  return value === null ? null : whole(value);
}

function microseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000);
}
