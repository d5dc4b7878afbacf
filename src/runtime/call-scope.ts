import type { Access } from '../kernel/access.ts';
import type { ExecutionContext } from '../kernel/execution-context.ts';
import type { BlobStore } from '../kernel/ports.ts';
import type { Tool, ToolContext } from '../kernel/tool.ts';
import type { Caller, Files, Search } from '../kernel/workspace.ts';
import type { Ticket } from './access-locks.ts';
import type { Runtime } from './runtime.ts';

/** What a door asks for. */
export interface CallRequest {
  /** A name to look up, or a tool that needs no looking up. */
  tool: string | Tool;
  args: unknown;
  context: ExecutionContext;
  /** The caller's own name for this request: the same key in the same session is the same call. */
  key?: string;
  signal?: AbortSignal;
  /** The call inside which this one is made; it shares its parent's locks and ends with it. */
  parent?: CallScope;
  /** This call's place among others asked for together. */
  turn?: Turn;
}

/** The order among the calls of one batch: each says what it touches, then waits for earlier ones it conflicts with. */
export interface Turn {
  declare(access: readonly Access[]): void;
  wait(access: readonly Access[]): Promise<void>;
}

/** Where a call is; a throw is explained by it. */
type Stage = 'record' | 'admit' | 'hook' | 'policy' | 'approval' | 'run';

/** One call while it lives: its identity, how far it is, and the context its tool is given. */
export class CallScope implements ToolContext, Caller {
  readonly callId: string;
  readonly request: CallRequest;
  readonly context: ExecutionContext;
  readonly requestedAt: number;
  readonly openedAt: number;
  readonly cancelSignal: AbortSignal | undefined;

  stage: Stage = 'record';
  /** Canonical once the tool is found; until then what the caller said. */
  toolName: string;
  /** What is recorded as the arguments: as given first, then as they ran. */
  args: unknown;
  warnings: string[] = [];
  startedAt: number | null = null;
  startedMonotonic = 0;
  ticket: Ticket | undefined;
  admitted: readonly Access[] | null = null;
  ended = false;

  readonly #rt: Runtime;
  #opened: { readonly files: Files; readonly search: Search } | undefined;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(rt: Runtime, callId: string, request: CallRequest) {
    this.#rt = rt;
    this.callId = callId;
    this.request = request;
    this.context = request.context;
    this.requestedAt = rt.clock.now();
    this.openedAt = rt.clock.monotonic();
    this.toolName = typeof request.tool === 'string' ? request.tool : request.tool.name;
    this.args = request.args;
    this.cancelSignal = eitherOf(request.signal, request.parent?.signal);
  }

  get session(): string {
    return this.context.sessionId ?? 'local';
  }
  get workingDir(): string {
    return this.context.workingDir;
  }
  get sessionId(): string | null {
    return this.context.sessionId;
  }
  get agentId(): string | null {
    return this.context.agentId;
  }
  get dryRun(): boolean {
    return this.context.dryRun;
  }
  get timeout(): number {
    return this.context.timeout;
  }
  get maxOutputSize(): number {
    return this.context.maxOutputSize;
  }
  get metadata(): Readonly<Record<string, unknown>> {
    return this.context.metadata;
  }
  get artifacts(): BlobStore {
    return this.#rt.blobs;
  }
  get files(): Files {
    return this.#open().files;
  }
  get search(): Search {
    return this.#open().search;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  /** Tells the tool to stop. The call's own answer does not wait for it. */
  abort(why: string): void {
    this.#abortReason ??= new Error(why);
    this.#abort?.abort(this.#abortReason);
  }

  #open() {
    this.#opened ??= this.#rt.world.open(this);
    return this.#opened;
  }

  progress(update: { message?: string; percent?: number; output?: string }): void {
    if (this.ended || !this.#rt.bus.listening) return;
    const data = { tool: this.toolName, ...update };
    const { session, callId } = this;
    this.#rt.bus.emit({ type: 'call.progressed', session, callId, at: this.#rt.clock.now(), data });
  }
}

function eitherOf(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a !== undefined && b !== undefined ? AbortSignal.any([a, b]) : (a ?? b);
}
