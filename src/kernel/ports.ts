import type { ApprovalRecord, PresentedCall, VerdictPart } from './call/approval.ts';
import type { CallRecord, CallState, Effect, NodeStamp } from './call/call.ts';
import type { CallMove, FollowOptions, LogEvent, NewEvent, StoredEvent } from './call/event.ts';
import type { ExecutionContext } from './call/execution-context.ts';
import type { SessionFlow } from './call/session-flow.ts';
import type { Details } from './error.ts';
import type { MaybePromise, Result } from './result.ts';
import type { Access } from './tool/access.ts';
import type { ClassifiedChange } from './world/stage.ts';
import type { UnagreedTexts } from './world/unagreed-texts.ts';

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
 * The record of every call: rows, and the events that changed them. Every method may answer at once or later; when it has
 * answered, its writes are as durable as the adapter promises. The steps of one call, `submit` and `move`, are kept in
 * the order they are given, also when the caller does not wait in between. A method throws only when the store itself is
 * unusable (full disk, lost connection), never because of a request.
 */
export interface Store {
  /** This process, as others see it; its epoch grows when others give it up. Absent where there are no others. */
  readonly node?: NodeStamp;
  /**
   * Records a new call in state `requested`. If the session already has a call with the same key, nothing is
   * recorded and that call comes back with `event: null`. With `isNew` the caller guarantees that there is no earlier
   * call, so a store need not look for it.
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
  /** Deletes finished calls, and their events up to the first event of an unfinished call; running calls stay. */
  clear(): MaybePromise<void>;
  /**
   * Reports events recorded from now on, by any process, in the order of `pos`; those after `after` first if it is
   * given, and only of some types if these are named. Returns a function that stops it. Absent where no other process can write.
   */
  follow?(listener: (event: LogEvent) => void, options?: FollowOptions): () => void;
  /** The clock that deadlines are measured by. Absent where the wall clock is all there is. */
  now?(): MaybePromise<number>;
  /**
   * Records the first decision about a pending approval. Null when it was decided before, or has expired by the store's
   * clock. Absent where only this process can decide.
   */
  decide?(event: NewEvent<'approval.decided'>): MaybePromise<StoredEvent | null>;
  /** The latest request for approval of a call. Absent where no request outlives its process. */
  approvalOf?(callId: string): MaybePromise<ApprovalRecord | null>;
  /**
   * Calls the listener when other processes have given this one up, or may have, because it was silent for too long: its
   * calls must stop, and its writes about them are refused. Returns a function that unsubscribes. Absent where no living
   * process is given up.
   */
  onGivenUp?(listener: () => void): () => void;
  /**
   * Takes a session for this process alone; it is taken over from a process that has ended. Appending to a held session
   * is refused once another process may hold it. Absent where no other process can write.
   */
  hold?(session: string): MaybePromise<SessionHold>;
  /** Ends or requeues calls whose process ended. Absent where no call outlives its process. */
  recover?(): MaybePromise<unknown>;
}

/** A session that was taken, or a description of the process that has it. */
export type SessionHold = { release(): MaybePromise<void> } | { readonly holder: string };

/** Keeps values that no record may contain while a call needs them. Contract: a value is kept until it is forgotten. */
export interface Vault {
  keep(callId: string, value: object): void;
  get(callId: string): unknown;
  forget(callId: string): void;
  /** The calls that have a value in it. */
  list(): readonly string[];
}

/** Bytes by the hash of their content. Stored bytes never change; an adapter may delete the oldest. */
export interface BlobStore {
  /** Returns the handle; the same bytes always give the same one. */
  put(bytes: Uint8Array): MaybePromise<string>;
  /** FILE_NOT_FOUND for a handle that is unknown or deleted, or whose bytes no longer match it. */
  get(handle: string): MaybePromise<Result<Uint8Array>>;
}

/** A call as policy judges it. `ownReason` is the tool's own reason to ask a person; `asksAlways`: no rule lifts it. */
export interface Subject {
  readonly tool: string;
  readonly args: unknown;
  readonly access: readonly Access[];
  readonly effect: Effect;
  readonly ownReason: string | undefined;
  readonly asksAlways: boolean;
  /** The resolved paths of `access`, without those that cannot be used anyway. Absent if policy does not want them. */
  readonly places?: ReadonlyMap<Access, RealPath>;
  /** Of a call that keeps pending changes: the changes that it would keep, all of them. */
  readonly changes?: readonly ClassifiedChange[];
  /** Of such a call: the run that made them did not end by itself. */
  readonly isPartial?: boolean;
  /** Of such a call: the text of the user's rule by which the command ran, or null. */
  readonly allowedBy?: string | null;
  /** Changes of the call are collected in a stage of the session, and a person decides about all of them later. */
  readonly isCollected?: boolean;
  /** It can send data out by means that `access` does not say. Left out: only a call of unknown access can. */
  readonly sends?: boolean;
  /** The data that came into the session before this call. Left out: none. */
  readonly flow?: SessionFlow;
  /** Texts of the agent that nobody has agreed to. Absent if policy does not want them. */
  readonly unagreed?: UnagreedTexts;
  readonly context: ExecutionContext;
}

/** A path after all symlinks. */
export interface RealPath {
  /** Relative to the workspace root; `''` is the root. */
  readonly path: string;
  /** Whether it is a folder, so that the call reaches everything in it. */
  readonly folder: boolean;
}

/**
 * A decision of policy. Deny beats ask beats allow. `rule` names the rule that decided; `reason` is for the person or the
 * model that must act.
 */
export interface Verdict {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
  /** The access granted, which may differ from the one requested: a command runs in a stage, with or without network. */
  readonly access?: readonly Access[];
  /** All of the command is allowed by rules of the user, of which `rule` is the first. */
  readonly byRule?: true;
  /** Of a denial: only the mode denies the call, no rule and no file policy. A call that cannot work then fails with its own code. */
  readonly byMode?: true;
  /** Of a denial: the code of the failure. Left out: PERMISSION_DENIED. */
  readonly code?: 'INVALID_PATH' | 'PERMISSION_DENIED';
  /** Of a denial: what else programs need to know of it; it goes into the details of the failure. */
  readonly details?: Details;
  /**
   * Of a question: a run without network of which nothing is kept has no effect that it asks about, and no rule of the user asks.
   * So a dry run may try the call.
   */
  readonly mayRehearse?: true;
  /** Everything that was judged on the way. */
  readonly parts?: readonly VerdictPart[];
}

/** Contract: decides, touches nothing. A throw refuses the call. */
export interface Policy {
  decide(subject: Subject): MaybePromise<Verdict>;
  /** Whether it wants the resolved paths of a call of this tool with this access. Left out: no. */
  wantsPlaces?(tool: string, access: readonly Access[]): boolean;
  /** Whether it wants the flow of the session. Left out: no. */
  wantsFlow?(): boolean;
  /** Whether it wants the texts that nobody has agreed to, for calls that run commands. Left out: no. */
  wantsUnagreed?(): boolean;
}

/** A request to a person to approve a call with exactly these arguments. */
export interface ApprovalRequest {
  readonly id: string;
  /** The call that waits. */
  readonly stepId: string;
  /** The call that a client made, where the call that waits is a part of it. */
  readonly outerCall?: string;
  readonly session: string;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Why approval is needed, for a person. */
  readonly reason: string;
  readonly summary: string;
  readonly access: readonly Access[];
  /** The approval digest: the call that runs is the call that was approved. */
  readonly digest: string;
  readonly shown: PresentedCall;
}

export interface ApprovalResponse {
  readonly approved: boolean;
  /** Replaces the arguments; validated and judged again before anything runs. */
  readonly modifiedArgs?: Record<string, unknown>;
  /** On a refusal, a message for the model. */
  readonly message?: string;
  readonly by?: string;
  /** The answer is in the store already, because another door took it; `digest` is that of the edited arguments. */
  readonly recorded?: boolean;
  readonly digest?: string;
}

/** Contract: answers once. Only `approved: true` approves; a throw denies. `signal` aborts when no answer is needed. */
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

const nothing = () => {};

export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  isLevelEnabled: () => false,
};

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
