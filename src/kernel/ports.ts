import type { Access } from './tool/access.ts';
import type { ApprovalRecord, Shown, VerdictPart } from './approval.ts';
import type { CallRecord, CallState, Effect, NodeStamp } from './call/call.ts';
import type { CallMove, LogEvent, NewEvent, StoredEvent } from './call/event.ts';
import type { ExecutionContext } from './call/execution-context.ts';
import type { MaybePromise, Result } from './result.ts';

/** Wall time for people and deadlines, monotonic time for durations. Both in milliseconds. */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export interface CallQuery {
  session?: string;
  tool?: string;
  states?: readonly CallState[];
  /** Cursor from the page before. */
  after?: string;
  limit?: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Give it as `after` to get the next page; null when this was the last. */
  readonly next: string | null;
}

/**
 * The record of every call: rows, and the events that changed them. Every method may answer at once or later; when
 * it has answered, what it wrote is as durable as the adapter promises. The steps of one call, `submit` and `move`, are
 * kept in the order they are given, also when nobody waits in between. A method throws only when the store itself is
 * unusable (full disk, lost connection), never for what a caller asked.
 */
export interface Store {
  /** This process, as others see it; its epoch grows when others give it up. Absent where there are no others. */
  readonly node?: NodeStamp;
  /**
   * Records a new call in state `requested`. If the session already has a call with the same key, nothing is
   * recorded and that call comes back with `event: null`. Of one that `isNew` there can be no earlier one, so a store
   * need not look for it.
   */
  submit(call: CallRecord, sure?: { isNew: boolean }): MaybePromise<{ call: CallRecord; event: StoredEvent | null }>;
  /** Changes the row and appends the event, both or neither. Null when the call is unknown or not in `move.from`. */
  move(callId: string, move: CallMove, event: NewEvent): MaybePromise<StoredEvent | null>;
  /** Appends events that change no row, such as a decision while the call still waits. */
  append(session: string, events: readonly NewEvent[]): MaybePromise<readonly StoredEvent[]>;
  call(callId: string): MaybePromise<CallRecord | null>;
  /** Oldest first. */
  calls(query: CallQuery): MaybePromise<Page<CallRecord>>;
  /** Events of one session with `seq` above `after`, in order. */
  events(session: string, after?: number, limit?: number): MaybePromise<readonly StoredEvent[]>;
  /** Forgets finished calls, and their events as far as nothing unfinished stands before them; running ones stay. */
  clear(): MaybePromise<void>;
  /**
   * Tells events recorded from now on, by whatever process, in the order of `pos`; those after `after` first if it is
   * given. Returns how to stop. Absent where no other process can write.
   */
  follow?(listener: (event: LogEvent) => void, after?: number): () => void;
  /** The clock that deadlines are measured by. Absent where the wall clock is all there is. */
  now?(): MaybePromise<number>;
  /**
   * Records the first decision about a pending approval. Null when somebody decided before, or when its time is over by
   * the store's clock. Absent where only this process can decide.
   */
  decide?(event: NewEvent<'approval.decided'>): MaybePromise<StoredEvent | null>;
  /** The latest question about a call. Absent where no question outlives its process. */
  approvalOf?(callId: string): MaybePromise<ApprovalRecord | null>;
  /**
   * Tells when others have given this process up, or may have, as it was silent for too long: what it runs must stop,
   * and its word about that is refused. Returns how to stop hearing. Absent where no living process is given up.
   */
  onGivenUp?(listener: () => void): () => void;
  /**
   * Takes a session for one at a time; from an ended process it is taken over. What is appended to a session that is
   * held is refused once it may be somebody else's. Absent where no other process can write.
   */
  hold?(session: string): MaybePromise<Hold>;
  /** Looks after calls whose process ended. Absent where no call outlives its process. */
  recover?(): MaybePromise<unknown>;
}

/** A session that was taken, or in words who has it. */
export type Hold = { release(): MaybePromise<void> } | { readonly holder: string };

/** Where what a record must not hold is kept while a call needs it. Contract: what was kept is there until it is forgotten. */
export interface Vault {
  keep(callId: string, value: object): void;
  get(callId: string): unknown;
  forget(callId: string): void;
  /** The calls it keeps something of. */
  list(): readonly string[];
}

/** Bytes by the hash of their content. What was put is never changed; an adapter may forget the oldest. */
export interface BlobStore {
  /** Returns the handle; the same bytes always give the same one. */
  put(bytes: Uint8Array): MaybePromise<string>;
  /** FILE_NOT_FOUND for a handle that is unknown or forgotten, or whose bytes no longer fit it. */
  get(handle: string): MaybePromise<Result<Uint8Array>>;
}

/** What policy judges. `ownReason` is the tool's own wish to ask a person; `asksAlways`, that no rule may lift it. */
export interface Subject {
  readonly tool: string;
  readonly args: unknown;
  readonly access: readonly Access[];
  readonly effect: Effect;
  readonly ownReason: string | undefined;
  readonly asksAlways: boolean;
  /** Where files of `access` really are. Left out of it: what cannot be used anyway. Not there if policy has no use for it. */
  readonly places?: ReadonlyMap<Access, RealPlace>;
  readonly context: ExecutionContext;
}

/** Where a path leads. */
export interface RealPlace {
  /** From the workspace root, `''` being that; without any link. */
  readonly path: string;
  /** A folder, so that the call reaches what is in it. */
  readonly folder: boolean;
}

/** Deny beats ask beats allow. `rule` names what decided; `reason` is for the person or the model that must act. */
export interface Verdict {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
  /** What is granted, where that is less than what was asked for: a command that only reads gets nothing to write. */
  readonly access?: readonly Access[];
  /** Everything that was judged on the way. */
  readonly parts?: readonly VerdictPart[];
}

/** Contract: decides, touches nothing. A throw refuses the call. */
export interface Policy {
  decide(subject: Subject): MaybePromise<Verdict>;
  /** Whether it wants to know where the paths of this tool lead. Left out: no. */
  wantsPlaces?(tool: string): boolean;
}

/** What a person is asked. Approval is of exactly these arguments. */
export interface ApprovalRequest {
  readonly id: string;
  /** The call that waits. */
  readonly stepId: string;
  readonly session: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Why it is asked, in words for a person. */
  readonly reason: string;
  readonly summary: string;
  readonly access: readonly Access[];
  /** Hash of all that the answer is bound to: what is approved is what runs. */
  readonly digest: string;
  readonly shown: Shown;
}

export interface ApprovalResponse {
  readonly approved: boolean;
  /** Replaces the arguments; validated and judged again before anything runs. */
  readonly modifiedArgs?: Record<string, unknown>;
  /** On a refusal, words for the model. */
  readonly message?: string;
  readonly by?: string;
  /** The answer is in the store already, as another door took it; `digest` is of the edited arguments it was shown. */
  readonly recorded?: boolean;
  readonly digest?: string;
}

/**
 * Looks at what a call would touch, so that a yes to what was shown is no yes to something else: name → fingerprint.
 * Contract: changes nothing and does not throw; what cannot be looked at has a fingerprint that says so.
 */
export type Witness = (
  access: readonly Access[],
  context: ExecutionContext,
) => Promise<Readonly<Record<string, string>>>;

/** Contract: answers once. Only `approved: true` is a yes; a throw is a no. `signal` tells that nobody waits any more. */
export interface Approver {
  ask(request: ApprovalRequest, signal: AbortSignal): MaybePromise<ApprovalResponse>;
}

/** Structured logging, pino's shape. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  isLevelEnabled(level: 'debug' | 'info' | 'warn' | 'error'): boolean;
}
