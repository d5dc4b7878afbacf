import { hash } from 'node:crypto';
import type {
  LogEvent,
  NewEvent,
  NewSessionEvent,
  NewSystemEvent,
  RecordedEventType,
  SessionEventType,
  SystemEventType,
} from '../../kernel/call/event.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import { andThen, type MaybePromise } from '../../kernel/result.ts';
import type { EventTable } from '../sql/tables.ts';
import { fromPayload, type Payload } from './payload.ts';

/** The version of each event's data. Raise it when a field changes its meaning, and convert the old one in `upcast`. */
export const EVENT_VERSIONS: Record<RecordedEventType | SessionEventType | SystemEventType, number> = {
  'call.requested': 1,
  'approval.requested': 1,
  'approval.decided': 1,
  'call.requeued': 1,
  'call.resumed': 1,
  'call.started': 1,
  'call.finished': 1,
  'run.started': 1,
  'results.added': 1,
  'run.finished': 1,
  'call.cancel_requested': 1,
  'session.created': 1,
  'message.added': 1,
  'rule.saved': 1,
  'rule.removed': 1,
  'path.decided': 1,
  'path.taken_back': 1,
  'tool.switched': 1,
  'mode.switched': 1,
  'model.switched': 1,
};

export function toLogEvent(blobs: BlobStore, row: EventTable): MaybePromise<LogEvent> {
  return andThen(
    fromPayload<unknown>(blobs, row, (handle) => ({ missing: handle })),
    (data) => {
      const { type, call_id: callId, at, session, seq, pos } = row;
      return { type, callId, at, data: upcast(type, row.version, data), session, seq, pos } as LogEvent;
    },
  );
}

/** A recorded event with the JSON of its data. */
export interface WrittenEvent {
  readonly event: LogEvent;
  readonly payload: Payload;
}

/**
 * Returns a written event as reading it back would. Data is parsed on first use: most followers look at the type alone.
 */
export function toLazyEvent({ event, payload }: WrittenEvent): LogEvent {
  const { type, callId, at, session, seq, pos } = event;
  let data: unknown;
  const told = {
    type,
    callId,
    at,
    get data() {
      data ??= JSON.parse(payload.data ?? 'null');
      return data;
    },
    session,
    seq,
    pos,
  };
  return told as unknown as LogEvent;
}

/** Covers every column of the row and, through `previous`, every earlier event of the session. */
export function chainHash(previous: string, event: Omit<EventTable, 'hash'>): string {
  const { pos, session, seq, type, version, call_id, at, data, blob } = event;
  return hash('sha256', JSON.stringify([previous, pos, session, seq, type, version, call_id, at, data, blob]), 'hex');
}

/** Converts data of an older version to the current one. So far there is only one version. */
function upcast(_type: string, _version: number, data: unknown): unknown {
  return data;
}

export type AnyNewEvent = NewEvent | NewSessionEvent | NewSystemEvent;
