import type { Access } from '../kernel/tool/access.ts';
import type { CallRecord } from '../kernel/call/call.ts';
import type { ExecutionContext } from '../kernel/call/execution-context.ts';
import { isPromise, type MaybePromise } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { Ticket } from './order/access-locks.ts';
import { CallContext, type ContextParts } from './pipeline/call-context.ts';
import { Interruption, interruptible } from './pipeline/interruption.ts';
import type { Stop } from './order/live-calls.ts';

/** What a door asks for. */
export interface CallRequest {
  /** A name to look up, or a tool that needs no looking up. */
  tool: string | Tool;
  args: unknown;
  context: ExecutionContext;
  /** The caller's own name for this request: the same key in the same session is the same call. */
  key?: string;
  signal?: AbortSignal;
  /** Ends only the wait for a call that was made before under the same key. */
  patience?: AbortSignal;
  /** Another way to stop it, by its id. */
  stop?: Stop;
  /** The call's id; left out: a new one. */
  id?: string;
  /** Told once, as soon as the store has the call: its id, or that of the one made before under the same key. */
  onRecorded?: (callId: string) => void;
  /** The call inside which this one is made; it shares its parent's locks, and a parent that is stopped stops it. */
  parent?: CallScope;
  /** A queued call to take over, instead of a new one. */
  resume?: CallRecord;
  /** If somebody else took that call over first, it is left to them. */
  orLeave?: boolean;
  /** Takes over a queued call that was asked for under the same key; left out: nobody need know of that. */
  takeUp?: (request: CallRequest) => Promise<ToolResult>;
  /** Its arguments come from a record that hides some: it only gets the answer of a call made before under its key. */
  isIncomplete?: boolean;
  /** Nothing will run: somebody wants to know what would happen. */
  isReview?: boolean;
  /** This call's place among others asked for together. */
  turn?: Turn;
}

/** The order among the calls of one batch: each says what it touches, then waits for earlier ones it conflicts with. */
export interface Turn {
  declare(access: readonly Access[]): void;
  wait(access: readonly Access[]): Promise<void>;
}

/** Who is at work on a call; a throw is explained by it. */
export type Stage = 'store' | 'definition' | 'hook' | 'policy' | 'approver' | 'tool';

/** What ends a wait, beside the caller's own cancellation. */
interface Bounds {
  readonly seconds?: number | undefined;
  readonly givenUp?: AbortSignal | undefined;
}

/** One call while it lives: what was asked, and how far it is. Tools see only its `ctx`. */
export class CallScope {
  readonly callId: string;
  readonly request: CallRequest;
  readonly context: ExecutionContext;
  readonly requestedAt: number;
  readonly openedAt: number;
  readonly ctx: CallContext;

  stage: Stage = 'store';
  /** Whether the store knows of it and waits for its end to be recorded. */
  recorded = false;
  /** The life of this process that has the call, once the store knows it: that of its request, then of its start. */
  epoch: number | undefined;
  /** The latest step that was given to the store, until it is known to be kept. */
  unkept: Promise<void> | undefined;
  /** The store could not take the request, so it has nothing of this call. */
  isUnknown = false;
  /** The hook that is at work, while one is. */
  hook = '';
  /** Canonical once the tool is found; until then what the caller said. */
  toolName: string;
  /** A frozen copy: as given first, then as they run. What is recorded, shown and checked. */
  args: unknown = null;
  readonly warnings: string[] = [];
  startedAt: number | null = null;
  startedMonotonic = 0;
  ticket: Ticket | undefined;
  /** How many changes other calls had made when what it touches was last looked at. */
  judgedAfter = 0;
  admitted: readonly Access[] | null = null;
  #cancel: AbortSignal | undefined;

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

  /** What ends its waits when nobody wants it any more. Made at the first wait. */
  get cancelSignal(): AbortSignal | undefined {
    const { signal, stop, parent } = this.request;
    this.#cancel ??= eitherOf(eitherOf(signal, stop?.signal), parent?.ctx.signal);
    return this.#cancel;
  }

  /** What others write for us ends with the call's own time, so that nothing can hang a call for ever. */
  bounded<T>(work: MaybePromise<T>, { seconds = this.context.timeout, givenUp }: Bounds = {}): MaybePromise<T> {
    if (!isPromise(work)) return work;
    return interruptible(work, seconds * 1000, eitherOf(this.cancelSignal, givenUp));
  }

  throwIfCancelled(): void {
    const { signal, stop, parent } = this.request;
    const isCancelled = parent === undefined ? signal?.aborted || stop?.isStopped : this.cancelSignal?.aborted;
    if (isCancelled) throw new Interruption('cancelled');
  }
}

export function eitherOf(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a !== undefined && b !== undefined ? AbortSignal.any([a, b]) : (a ?? b);
}
