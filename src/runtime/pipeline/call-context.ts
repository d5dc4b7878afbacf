import type { Access } from '../../kernel/tool/access.ts';
import type { Commands } from '../../kernel/world/commands.ts';
import type { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { BlobStore, Clock } from '../../kernel/ports.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { Web } from '../../kernel/world/web.ts';
import type { Caller, Files, Reach, Search, World } from '../../kernel/world/workspace.ts';
import type { EventBus } from '../event-bus.ts';
import type { SecretHider } from '../hide-secrets.ts';
import { noCommands, noWeb } from '../registry/unconfigured-world.ts';
import { SecretStream } from '../secret-stream.ts';

/** What of the runtime a call needs for its context. */
export interface ContextParts {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly hider: SecretHider;
  readonly blobs: BlobStore;
  readonly world: World;
}

/** The call behind a context. */
export interface ContextOwner {
  readonly callId: string;
  readonly session: string;
  readonly toolName: string;
  readonly context: ExecutionContext;
  /** What it may touch; null until that was decided. */
  readonly admitted: readonly Access[] | null;
}

/** What a tool is given: its context and its ways to the world, and no way to its own record. */
export class CallContext implements ToolContext {
  readonly #rt: ContextParts;
  readonly #call: ContextOwner;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #ended = false;
  #opened: Reach | undefined;
  #output: SecretStream | undefined;

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
    const rest = context.#output?.rest();
    if (rest) context.#tell({ output: rest });
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
    return this.#call.admitted ?? [];
  }
  get artifacts(): BlobStore {
    return this.#rt.blobs;
  }
  get files(): Files {
    return this.#reached().files;
  }
  get search(): Search {
    return this.#reached().search;
  }
  get commands(): Commands {
    return this.#reached().commands ?? noCommands;
  }
  get web(): Web {
    return this.#reached().web ?? noWeb;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  #reached(): Reach {
    this.#opened ??= this.#rt.world.open(new WorldCaller(this.#call, this));
    return this.#opened;
  }

  progress({ message, percent, output }: Progress): void {
    if (this.#ended || !this.#rt.bus.listening) return;
    this.#output ??= new SecretStream(this.#rt.hider);
    const told = output && this.#output.add(output);
    const isHeld = told === '' && output !== '';
    if (isHeld && message === undefined && percent === undefined) return;
    this.#tell({
      ...(message !== undefined && { message: this.#rt.hider.hide(message) }),
      ...(percent !== undefined && { percent }),
      ...(told !== undefined && !isHeld && { output: told }),
    });
  }

  #tell(progress: Progress): void {
    const { callId, session, toolName } = this.#call;
    const data = { tool: this.#rt.hider.hide(toolName), ...progress };
    this.#rt.bus.emit({ type: 'call.progressed', session, callId, at: this.#rt.clock.now(), data });
  }
}

type Progress = Parameters<ToolContext['progress']>[0];

/** What the world is told of the call: as it is when asked, since the call goes on. */
class WorldCaller implements Caller {
  readonly #call: ContextOwner;
  readonly #context: CallContext;

  constructor(call: ContextOwner, context: CallContext) {
    this.#call = call;
    this.#context = context;
  }

  get callId(): string {
    return this.#call.callId;
  }
  get session(): string {
    return this.#call.session;
  }
  get workingDir(): string {
    return this.#call.context.workingDir;
  }
  get timeout(): number {
    return this.#call.context.timeout;
  }
  get signal(): AbortSignal {
    return this.#context.signal;
  }
  get admitted(): readonly Access[] | null {
    return this.#call.admitted;
  }
}
