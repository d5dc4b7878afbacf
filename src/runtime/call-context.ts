import type { Access } from '../kernel/access.ts';
import type { ExecutionContext } from '../kernel/execution-context.ts';
import type { BlobStore, Clock } from '../kernel/ports.ts';
import type { ToolContext } from '../kernel/tool.ts';
import type { EventBus } from './event-bus.ts';

/** What of the runtime a call needs for its context. */
export interface ContextParts {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly blobs: BlobStore;
}

/** The call behind a context. */
export interface ContextOwner {
  readonly callId: string;
  readonly session: string;
  readonly toolName: string;
  readonly context: ExecutionContext;
  readonly granted: readonly Access[];
}

/** What a tool is given: its context and its ways to the world, and no way to its own record. */
export class CallContext implements ToolContext {
  readonly #rt: ContextParts;
  readonly #call: ContextOwner;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #ended = false;

  constructor(rt: ContextParts, call: ContextOwner) {
    this.#rt = rt;
    this.#call = call;
  }

  /** The call behind a context that a tool hands back, or undefined for any other object. */
  static ownerOf(context: object): ContextOwner | undefined {
    return #call in context ? context.#call : undefined;
  }

  /** Tells the tool to stop. The call's own answer does not wait for it. */
  static abort(context: CallContext, why: string): void {
    context.#abortReason ??= new Error(why);
    context.#abort?.abort(context.#abortReason);
  }

  /** From now on its progress is ignored. */
  static end(context: CallContext): void {
    context.#ended = true;
  }

  get #context(): ExecutionContext {
    return this.#call.context;
  }

  get callId(): string {
    return this.#call.callId;
  }
  get workingDir(): string {
    return this.#context.workingDir;
  }
  get sessionId(): string | null {
    return this.#context.sessionId;
  }
  get agentId(): string | null {
    return this.#context.agentId;
  }
  get dryRun(): boolean {
    return this.#context.dryRun;
  }
  get timeout(): number {
    return this.#context.timeout;
  }
  get maxOutputSize(): number {
    return this.#context.maxOutputSize;
  }
  get metadata(): Readonly<Record<string, unknown>> {
    return this.#context.metadata;
  }
  get granted(): readonly Access[] {
    return this.#call.granted;
  }
  get artifacts(): BlobStore {
    return this.#rt.blobs;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  progress({ message, percent, output }: { message?: string; percent?: number; output?: string }): void {
    if (this.#ended || !this.#rt.bus.listening) return;
    const { callId, session, toolName: tool } = this.#call;
    const data = {
      tool,
      ...(message !== undefined && { message }),
      ...(percent !== undefined && { percent }),
      ...(output !== undefined && { output }),
    };
    this.#rt.bus.emit({ type: 'call.progressed', session, callId, at: this.#rt.clock.now(), data });
  }
}
