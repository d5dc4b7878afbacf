import type { Access, DataOrigin } from '../tool/access.ts';
import type { PathDecisionKind } from '../world/path-decisions.ts';
import type { PresentedCall } from './approval.ts';
import type { CallRecord, CallState, FinalState, Outcome } from './call.ts';
import type { AssistantMessage, ResultPart, RunEnd, Usage } from './message.ts';

/** The data of each event. The names are the same in the store, on SSE and in the UI: `noun.past_verb`. */
export interface EventData extends SessionEventData {
  'call.requested': { tool: string; args: unknown; effect: CallRecord['effect']; agent: string | null };
  'approval.requested': {
    approvalId: string;
    tool: string;
    args: unknown;
    reason: string;
    digest: string;
    shown?: PresentedCall;
    /** By the store's clock. Left out: it never expires. */
    expiresAt?: number;
  };
  'approval.decided': {
    approvalId: string;
    approved: boolean;
    by: string | null;
    message?: string;
    changed?: string[];
    /** The arguments as the person edited them, and what was shown of them with its digest. */
    args?: unknown;
    digest?: string;
    shown?: PresentedCall;
  };
  /** The process that runs the call stops it. */
  'call.cancel_requested': { by: string | null };
  /** The process ended before the call started, or while it did something that may be done again. */
  'call.requeued': { tool: string; attempt: number; reason: string };
  /** A process took a queued call over and runs it from the start. */
  'call.resumed': { tool: string; attempt: number };
  'call.started': {
    tool: string;
    args: unknown;
    summary: string;
    access: readonly Access[];
    /** Of the tool that ran; left out where it is as requested. */
    effect?: CallRecord['effect'];
    /** Its changes of files go to those that the session collects: there is nothing to undo in the workspace. */
    collected?: true;
    /** Data that its tool brings in beside what its access says. */
    brings?: readonly DataOrigin[];
  };
  /** The duration is null when the process that could measure it did not end the call. */
  'call.finished': {
    tool: string;
    state: FinalState;
    outcome: Outcome;
    durationMs: number | null;
    /** Those of a call that never started: no other event may tell what they had become. */
    args?: unknown;
  };
  /** Live only: never recorded one by one. */
  'call.progressed': { tool: string; message?: string; percent?: number; output?: string };
  /** Live only: the model's message as it is streamed. `restarted`: discard what was streamed of it so far. */
  'message.streamed': { kind: 'text' | 'thinking' | 'call' | 'restarted'; text: string };
}

export type EventType = keyof EventData;
export type LiveEventType = 'call.progressed' | 'message.streamed';
export type RecordedEventType = Exclude<EventType, LiveEventType>;

export type NewEvent<T extends RecordedEventType = RecordedEventType> = T extends RecordedEventType
  ? { readonly type: T; readonly callId: CallIdOf<T>; readonly at: number; readonly data: EventData[T] }
  : never;

type CallIdOf<T extends EventType> = T extends SessionEventType | 'message.streamed' ? null : string;

/** A recorded event. `seq` counts from 1 without gaps in its session, `pos` grows over all sessions. */
export type StoredEvent = NewEvent & { readonly session: string; readonly seq: number; readonly pos: number };

/** Events of a session that belong to none of its calls. */
export interface SessionEventData {
  /** `workspace` is a name that holds on every machine, never a path. */
  'session.created': { workspace: string; title: string | null; agent: string | null; by: string | null };
  /**
   * An agent began to work on the session's last message. Until it finished, the run can be taken up again. `unfamiliar`: notes and skills of the workspace that the model was given, and to
   * whose text no person has agreed.
   */
  'run.started': { model: string; scripted: boolean; unfamiliar?: readonly string[] };
  /** `notice` is a note of the runtime to the model, which a person may read too. */
  'message.added': {
    messageId: string;
    role: 'user' | 'assistant' | 'notice';
    text: string;
    callIds?: readonly string[];
    by?: string | null;
    /** The model's turn with its calls, exactly as it is sent back to the model. */
    turn?: AssistantMessage;
  };
  /** The results of the calls of a turn, as the model reads them; people see the calls themselves. */
  'results.added': { results: readonly ResultPart[] };
  'run.finished': { reason: RunEnd; message: string; turns: number; usage: Usage };
}

export type SessionEventType = keyof SessionEventData;

export type NewSessionEvent<T extends SessionEventType = SessionEventType> = NewEvent<T>;

export type StoredSessionEvent = NewSessionEvent & {
  readonly session: string;
  readonly seq: number;
  readonly pos: number;
};

/** Events that belong to no session. They have a stream of their own, the session `SYSTEM_SESSION`. */
export interface SystemEventData {
  /** `workspace` names the only one the rule applies to; left out or null: it applies to all. */
  'rule.saved': {
    ruleId: string;
    rule: string;
    verdict: 'allow' | 'ask' | 'deny';
    by: string | null;
    workspace?: string | null;
  };
  'rule.removed': { ruleId: string; by: string | null };
  /** A person decided about a path of a workspace, or agreed to the text that has this digest. */
  'path.decided': {
    decisionId: string;
    workspace: string;
    path: string;
    kind: PathDecisionKind;
    digest: string | null;
    by: string;
  };
  'path.taken_back': { decisionId: string; by: string };
  'tool.switched': { tool: string; enabled: boolean; by: string | null };
  /** For the process that recorded it, until it ends: the configuration says how the next one starts. */
  'mode.switched': { mode: string; by: string | null };
  /** As `mode.switched`. The model is null in manual mode; `endpoint` is present when one was named. */
  'model.switched': { provider: string; model: string | null; endpoint?: string; by: string | null };
}

export type SystemEventType = keyof SystemEventData;

export const SYSTEM_SESSION = '@system';

export type NewSystemEvent<T extends SystemEventType = SystemEventType> = T extends SystemEventType
  ? { readonly type: T; readonly at: number; readonly data: SystemEventData[T] }
  : never;

export type StoredSystemEvent = NewSystemEvent & {
  readonly callId: null;
  readonly session: typeof SYSTEM_SESSION;
  readonly seq: number;
  readonly pos: number;
};

/** Any event in the log. */
export type LogEvent = StoredEvent | StoredSessionEvent | StoredSystemEvent;

export type LogEventType = LogEvent['type'];

export interface FollowOptions {
  /** Follows only events of these types. Left out: all. */
  readonly types?: readonly LogEventType[];
  /** Begins behind this position of the log. Left out: with the next event. */
  readonly after?: number;
}

export type LiveEvent<T extends LiveEventType = LiveEventType> = T extends LiveEventType
  ? {
      readonly type: T;
      readonly session: string;
      readonly callId: CallIdOf<T>;
      readonly at: number;
      readonly data: EventData[T];
    }
  : never;

/** An event as subscribers receive it: recorded ones after they were recorded, live ones as they come. */
export type Event = StoredEvent | LiveEvent;

/** A change of a call's row that an event tells. Applied only if the call is still in one of `from`. */
export interface CallMove {
  readonly from: readonly CallState[];
  readonly to: CallState;
  /** Applied only if the call still belongs to this epoch: a call that was given up is taken over by another process. */
  readonly epoch?: number;
  readonly set?: Partial<Pick<CallRecord, 'args' | 'effect' | 'startedAt' | 'finishedAt' | 'durationMs' | 'outcome'>>;
}
