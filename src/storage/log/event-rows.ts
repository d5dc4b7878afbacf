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
import type { MaybePromise } from '../../kernel/result.ts';
import { andThen, fromPayload, type Payload } from '../payload.ts';
import type { EventTable } from '../sql/tables.ts';

/** The version of each event's data. Raise it when a field changes its meaning, and teach `upcast` the old one. */
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

/** An event as it was written, and the text of its data. */
export interface Written {
  readonly event: LogEvent;
  readonly payload: Payload;
}

/** What was just written, as reading it back would give it; most of those who are told look at no more than its type. */
export function toWrittenEvent({ event, payload }: Written): LogEvent {
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

/** Data of an older version as the current one would say it. There is only one version so far. */
function upcast(_type: string, _version: number, data: unknown): unknown {
  return data;
}

export type AnyNewEvent = NewEvent | NewSessionEvent | NewSystemEvent;
