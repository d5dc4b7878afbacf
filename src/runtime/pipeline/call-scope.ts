import { randomBytes } from 'node:crypto';
import type { PreviewBlock } from '../../kernel/call/approval.ts';
import type { CallRecord, FinalState } from '../../kernel/call/call.ts';
import type { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { type ErrorCode, type Failure, knownCode, toFailure } from '../../kernel/error.ts';
import { isPromise, type MaybePromise, type Metadata, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { PlannedPlace } from '../../kernel/world/workspace.ts';
import type { Ticket } from '../order/access-locks.ts';
import type { StopSwitch } from '../order/live-calls.ts';
import { CallContext, type ContextParts } from './call-context.ts';
import { BoundedWait, Interruption } from './interruption.ts';

/** The request of a door. */
export interface CallRequest {
  /** The name of a tool, or the tool itself. */
  tool: string | Tool;
  args: unknown;
  context: ExecutionContext;
  /** The caller's own name for this request: the same key in the same session is the same call. */
  key?: string;
  signal?: AbortSignal;
  /** Ends only the wait for an earlier call with the same key. */
  patience?: AbortSignal;
  /** Stops the call by its id. */
  stop?: StopSwitch;
  /** The id of the call; a new one if left out. */
  id?: string;
  /** Called once, as soon as the store has the call, with its id or that of the earlier call with the same key. */
  onRecorded?: (callId: string) => void;
  /** The call inside which this one is made. The child shares the locks of its parent and is stopped with it. */
  parent?: CallScope;
  /** A queued call to take over, instead of a new one. */
  resume?: CallRecord;
  /** Does not wait when another process took that call over first. */
  orLeave?: boolean;
  /** Takes over a queued call with the same key. Left out: `executeCall` runs it without registering it. */
  takeUp?: (request: CallRequest) => Promise<ToolResult>;
  /**
   * The arguments come from a record that hides some: only the result of an earlier call with the same key is returned.
   */
  isIncomplete?: boolean;
  /** A repeated call: its command was refused a write, so it asks for the real files. */
  isLive?: boolean;
  /** Awaited when policy or a person refuses the call, before its end is recorded; the preview shows what it would have done. */
  onRefused?: (preview: () => Promise<readonly PreviewBlock[]>) => Promise<void>;
  /** Nothing will run: the request asks what would happen. */
  isReview?: boolean;
  /** The position of this call in its batch. */
  turn?: Turn;
}

/** Orders the calls of one batch: each declares its access, then waits for earlier calls that conflict with it. */
export interface Turn {
  declare(access: readonly Access[]): void;
  wait(access: readonly Access[]): Promise<void>;
}

/** The part that is working on a call; it explains a throw. */
export type Stage = 'store' | 'definition' | 'hook' | 'policy' | 'approver' | 'tool';

/** Limits of a wait, beside cancellation by the caller. */
interface WaitBounds {
  readonly seconds?: number | undefined;
  readonly evicted?: AbortSignal | undefined;
}

/** One call while it lives: its request and its progress. Tools see only its `ctx`. */
export class CallScope {
  readonly callId: string;
  readonly request: CallRequest;
  readonly context: ExecutionContext;
  readonly requestedAt: number;
  readonly openedAt: number;
  readonly ctx: CallContext;

  stage: Stage = 'store';
  /** True while the store has the call and its end is not recorded. */
  recorded = false;
  /** The epoch of this process that owns the call in the store: set by its request, then by its start. */
  epoch: number | undefined;
  /** The latest step given to the store that is not confirmed yet. */
  unconfirmed: Promise<void> | undefined;
  /** True when the store could not take the request, so it has nothing of this call. */
  isUnrecorded = false;
  /** The name of the hook that is running. */
  hook = '';
  /** The canonical name once the tool is found; until then the name given by the caller. */
  toolName: string;
  /** A frozen copy of the arguments, as given at first, then as they run. It is recorded, shown and checked. */
  args: unknown = null;
  readonly warnings: string[] = [];
  startedAt: number | null = null;
  startedMonotonic = 0;
  ticket: Ticket | undefined;
  /** The count of changes by other calls when this call was last judged. */
  judgedAfter = 0;
  admitted: readonly Access[] | null = null;
  /** Where the paths lead that it may change. */
  places: readonly PlannedPlace[] | undefined;
  /** The paths whose change a person was shown and agreed to. */
  agreedPaths: readonly string[] | undefined;
  #cancel: AbortSignal | undefined;
  /** The wait for the code of others that is under way; that for the tool's `run`, once it has started. */
  #wait: BoundedWait | undefined;

  constructor(rt: ContextParts, callId: string, request: CallRequest) {
    this.callId = callId;
    this.request = request;
    this.context = request.context;
    this.requestedAt = rt.clock.now();
    this.openedAt = rt.clock.monotonic();
    this.toolName = typeof request.tool === 'string' ? request.tool : request.tool.name;
    this.ctx = new CallContext(rt, this);
  }

  get session(): string {
    return this.context.sessionId ?? 'local';
  }

  /** Ends its waits on cancellation. Created at the first wait. */
  get cancelSignal(): AbortSignal | undefined {
    const { signal, stop, parent } = this.request;
    this.#cancel ??= anySignal(anySignal(signal, stop?.signal), parent?.ctx.signal);
    return this.#cancel;
  }

  /** Limits foreign code to the timeout of the call, so that nothing can hang a call for ever. */
  bounded<T>(
    work: MaybePromise<T>,
    { seconds = this.context.timeout, evicted: givenUp }: WaitBounds = {},
  ): MaybePromise<T> {
    if (!isPromise(work)) return work;
    this.#wait = new BoundedWait(seconds * 1000, anySignal(this.cancelSignal, givenUp));
    return this.#wait.until(work);
  }

  /** Stops the clock of its run while a call inside it waits for a person. Each pause needs one `resumeTimer`. */
  pauseTimer(): void {
    this.#wait?.pause();
  }

  resumeTimer(): void {
    this.#wait?.resume();
  }

  throwIfCancelled(): void {
    const { signal, stop, parent } = this.request;
    const isCancelled = parent === undefined ? signal?.aborted || stop?.isStopped : this.cancelSignal?.aborted;
    if (isCancelled) throw new Interruption('cancelled');
  }
}

export function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a !== undefined && b !== undefined ? AbortSignal.any([a, b]) : (a ?? b);
}

/** The end of a call before it is truncated, recorded and reported. */
export interface Ending {
  readonly kind: 'ending';
  readonly state: FinalState;
  readonly result: Result<unknown>;
  /** The text for the model, if it is not the value or the message of the error. */
  readonly text: string | undefined;
}

export function ending(state: FinalState, result: Result<unknown>, text?: string): Ending {
  return { kind: 'ending', state, result, text };
}

/** The ending for a failure that a tool returned. One that enforces its own timeout or cancellation reports it by code. */
export function failedByItself({ error, metadata }: { error: Failure; metadata?: Metadata }): Ending {
  const failure = toFailure(error);
  const result: Result<never> =
    metadata === undefined ? { ok: false, error: failure } : { ok: false, error: failure, metadata };
  return ending(STATE_OF.get(knownCode(failure.code)) ?? 'failed', result);
}

const STATE_OF = new Map<ErrorCode, FinalState>([
  ['TIMEOUT', 'timed_out'],
  ['CANCELLED', 'interrupted'],
]);

const PROCESS = randomBytes(12).toString('hex');
const MAX_RESERVED = 10_000;
const reserved = new Set<string>();
let count = 0;

/**
 * Returns an id that is unique across processes and machines. Cheap: a UUID would cost more than validating the call.
 */
export function nextCallId(): string {
  return `${PROCESS}-${++count}`;
}

/** Reserves an id that is needed before its call is made. */
export function newCallId(): string {
  const id = nextCallId();
  if (reserved.size >= MAX_RESERVED) for (const oldest of reserved) if (reserved.delete(oldest)) break;
  reserved.add(id);
  return id;
}

/** Returns true once for an id from `newCallId`: no call has it yet. For any other id only the store knows. */
export function isUnused(id: string): boolean {
  return reserved.delete(id);
}
