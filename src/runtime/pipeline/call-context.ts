import type { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { BlobStore, Clock } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Commands } from '../../kernel/world/commands.ts';
import type { Stages } from '../../kernel/world/stage.ts';
import type { Web } from '../../kernel/world/web.ts';
import type { Caller, Files, PlannedPlace, Search, World } from '../../kernel/world/workspace.ts';
import { StreamHider } from '../../secrets/hide-in-stream.ts';
import type { SecretHider } from '../../secrets/hide-secrets.ts';
import type { EventBus } from '../event-bus.ts';
import { noCommands, noStages, noWeb } from '../registry/unconfigured-world.ts';

/** The parts of the runtime that the context of a call uses. */
export interface ContextParts {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly hider: SecretHider;
  readonly blobs: BlobStore;
  readonly world: World;
  /** Decides about the pending changes of a call. */
  readonly keepChanges: (call: ContextOwner, stageId: string) => Promise<KeptChanges>;
  /** Repeats a call on the real files, if a person agrees. */
  readonly runLive: (call: ContextOwner) => Promise<ToolResult | null>;
}

/** The call behind a context. */
export interface ContextOwner {
  readonly callId: string;
  readonly session: string;
  readonly toolName: string;
  readonly context: ExecutionContext;
  /** The access that was granted; null before the decision. */
  readonly admitted: readonly Access[] | null;
  /** Where the paths lead that it may change. */
  readonly places: readonly PlannedPlace[] | undefined;
  /** The paths whose change a person was shown and agreed to. */
  readonly agreedPaths: readonly string[] | undefined;
}

/** The context that a tool gets: its settings, files, commands and web, and no access to its own record. */
export class CallContext implements ToolContext {
  readonly #rt: ContextParts;
  readonly #call: ContextOwner;
  #abort: AbortController | undefined;
  #abortReason: Error | undefined;
  #ended = false;
  #opened: OpenedWorld | undefined;
  #output: StreamHider | undefined;

  constructor(rt: ContextParts, call: ContextOwner) {
    this.#rt = rt;
    this.#call = call;
  }

  /** Returns the call behind a context that a tool passes on, or undefined for any other object. */
  static ownerOf(context: object): ContextOwner | undefined {
    return #call in context ? context.#call : undefined;
  }

  /** Tells the tool to stop. The result of the call does not wait for it. */
  static abort(context: CallContext, why: string): void {
    context.#abortReason ??= new Error(why);
    context.#abort?.abort(context.#abortReason);
  }

  /** Ignores progress from now on. */
  static end(context: CallContext): void {
    const rest = context.#output?.flush();
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
    const opened = this.#world();
    opened.files ??= this.#rt.world.files(opened.caller);
    return opened.files;
  }
  get search(): Search {
    const opened = this.#world();
    opened.search ??= this.#rt.world.search(opened.caller);
    return opened.search;
  }
  get commands(): Commands {
    const opened = this.#world();
    opened.commands ??= this.#rt.world.commands?.(opened.caller) ?? noCommands;
    return opened.commands;
  }
  get stages(): Stages {
    const opened = this.#world();
    opened.stages ??= this.#rt.world.stages?.(opened.caller) ?? noStages;
    return opened.stages;
  }
  get web(): Web {
    const opened = this.#world();
    opened.web ??= this.#rt.world.web?.(opened.caller) ?? noWeb;
    return opened.web;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  #world(): OpenedWorld {
    this.#opened ??= { caller: new WorldCaller(this.#call, this) };
    return this.#opened;
  }

  progress({ message, percent, output }: ProgressNotice): void {
    if (this.#ended || !this.#rt.bus.listening) return;
    this.#output ??= new StreamHider(this.#rt.hider);
    const told = output && this.#output.add(output);
    const isHeld = told === '' && output !== '';
    if (isHeld && message === undefined && percent === undefined) return;
    this.#tell({
      ...(message !== undefined && { message: this.#rt.hider.hide(message) }),
      ...(percent !== undefined && { percent }),
      ...(told !== undefined && !isHeld && { output: told }),
    });
  }

  keep(stageId: string): Promise<KeptChanges> {
    return this.#rt.keepChanges(this.#call, stageId);
  }

  runLive(): Promise<ToolResult | null> {
    return this.#rt.runLive(this.#call);
  }

  #tell(progress: ProgressNotice): void {
    const { callId, session, toolName } = this.#call;
    const data = { tool: this.#rt.hider.hide(toolName), ...progress };
    this.#rt.bus.emit({ type: 'call.progressed', session, callId, at: this.#rt.clock.now(), data });
  }
}

/** The parts of the world that this call has used. One field of the context, since most calls use none or one. */
interface OpenedWorld {
  readonly caller: Caller;
  files?: Files;
  search?: Search;
  commands?: Commands;
  stages?: Stages;
  web?: Web;
}

type ProgressNotice = Parameters<ToolContext['progress']>[0];

/** The call as the world sees it. Values are read when used, because the call goes on. */
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
  get places(): readonly PlannedPlace[] | undefined {
    return this.#call.places;
  }
  get agreedPaths(): readonly string[] | undefined {
    return this.#call.agreedPaths;
  }
}
