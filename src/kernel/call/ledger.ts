import type { CallQuery, Page, SessionHold, Store } from '../ports.ts';
import type { MaybePromise } from '../result.ts';
import type { PathDecision } from '../world/path-decisions.ts';
import type { ApprovalRecord, ApprovalState } from './approval.ts';
import type { CallRecord, CallState, NodeStamp } from './call.ts';
import type {
  FollowOptions,
  LogEvent,
  NewEvent,
  NewSessionEvent,
  NewSystemEvent,
  StoredEvent,
  StoredSessionEvent,
  StoredSystemEvent,
} from './event.ts';

export interface HistoryQuery extends CallQuery {
  agent?: string;
  /** Requested at or after, and before, in wall-clock milliseconds. */
  since?: number;
  until?: number;
  newestFirst?: boolean;
}

export interface SessionQuery {
  /** Cursor from the page before, of the same order. */
  after?: string;
  limit?: number;
  /** Sessions with the newest event first. Left out: by name. */
  newestFirst?: boolean;
}

export interface ApprovalQuery {
  state?: ApprovalState;
  session?: string;
  /** Only requests made after this one, by its id. */
  after?: string;
  limit?: number;
}

export interface SessionRecord {
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastSeq: number;
  /** Events up to this one were pruned. */
  readonly prunedSeq: number;
  /** As `session.created` says; null for a session without that event. */
  readonly workspace: string | null;
  readonly title: string | null;
  readonly agent: string | null;
}

export interface RuleRecord {
  readonly id: string;
  readonly rule: string;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly by: string | null;
  readonly savedAt: number;
  /** The only workspace it applies to; null applies to all. */
  readonly workspace: string | null;
}

/** A person's decision about a path, as the log keeps it: `workspace` is a name that holds on every machine. */
export interface PathDecisionRecord extends Omit<PathDecision, 'at'> {
  readonly id: string;
  readonly at: number;
}

/** Called from time to time during a long operation. */
export type Progress = (done: number, of: number) => void;

/** The result of verifying the log. `problems` is empty when every event is present, unchanged and in its place. */
export interface Verification {
  readonly sessions: number;
  readonly events: number;
  readonly problems: readonly string[];
}

/**
 * A store that outlives its process and is shared by several: what the doors look things up in. Everything here is a
 * projection of the log, changed only in the transaction that appends the event which tells it.
 */
export interface Ledger extends Store {
  /** This process, as others see it. */
  readonly node: NodeStamp;
  /** The clock that deadlines are measured by. A wall clock that is set does not move it. */
  now(): MaybePromise<number>;
  follow(listener: (event: LogEvent) => void, options?: FollowOptions): () => void;
  hold(session: string): MaybePromise<SessionHold>;
  /** Events of all sessions with `pos` above `after`, in order. */
  log(after: number, limit: number): MaybePromise<readonly LogEvent[]>;
  history(query: HistoryQuery): MaybePromise<Page<CallRecord>>;
  sessions(query: SessionQuery): MaybePromise<Page<SessionRecord>>;
  session(id: string): MaybePromise<SessionRecord | null>;
  approval(id: string): MaybePromise<ApprovalRecord | null>;
  /** The latest request for approval of a call. */
  approvalOf(callId: string): MaybePromise<ApprovalRecord | null>;
  /** Oldest first. */
  approvals(query: ApprovalQuery): MaybePromise<readonly ApprovalRecord[]>;
  /**
   * Records the first decision about a pending approval and, with it, saves rules: all or nothing. Null when it
   * was decided before, or has expired by the store's clock.
   */
  decide(
    event: NewEvent<'approval.decided'>,
    rules?: readonly NewSystemEvent<'rule.saved'>[],
  ): MaybePromise<StoredEvent | null>;
  /** Ends the requests for approval that expired, and the calls that waited for them. */
  expire(): MaybePromise<readonly StoredEvent[]>;
  /** Appends an event of a session that belongs to no call. */
  note(session: string, event: NewSessionEvent): MaybePromise<StoredSessionEvent>;
  record(event: NewSystemEvent): MaybePromise<StoredSystemEvent>;
  rules(): MaybePromise<readonly RuleRecord[]>;
  /** Those that hold now. */
  pathDecisions(): MaybePromise<readonly PathDecisionRecord[]>;
  /** Only tools that were switched. */
  toolStates(): MaybePromise<ReadonlyMap<string, boolean>>;
  /**
   * Recovers calls whose process ended: a call that never started, may run again, or waited for a person who has answered
   * becomes `queued`; all others `interrupted`. A call that was cancelled is not queued: it ends. Calls of
   * living processes are not touched.
   */
  recover(): MaybePromise<readonly StoredEvent[]>;
  verify(session?: string, onProgress?: Progress): MaybePromise<Verification>;
  prune(limits: PruneLimits): MaybePromise<PruneReport>;
  /** The log as JSON lines, in the order of `pos`, payloads included. */
  exportLines(query?: { session?: string }): AsyncIterable<string>;
  close(): MaybePromise<void>;
}

export interface PruneLimits {
  /** Forget what ended before this, in wall-clock milliseconds. */
  before?: number;
  /** Forget the oldest until the log and the blobs it refers to are at most about so big. */
  maxBytes?: number;
}

export interface PruneReport {
  readonly events: number;
  readonly calls: number;
  readonly blobs: number;
  /** The size of the log and its blobs after pruning. */
  readonly bytes: number;
}

/** States of calls that have not ended. */
export const UNFINISHED_STATES: readonly CallState[] = ['requested', 'awaiting_approval', 'queued', 'running'];
