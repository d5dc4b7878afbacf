import type { CallRecord } from '../kernel/call/call.ts';
import type { Event } from '../kernel/call/event.ts';
import { ExecutionContext, type ExecutionContextInit } from '../kernel/call/execution-context.ts';
import { ToolError } from '../kernel/error.ts';
import type { CallQuery, Page } from '../kernel/ports.ts';
import type { MaybePromise, Result } from '../kernel/result.ts';
import type { ToolCategory } from '../kernel/tool/category.ts';
import { type ChangesSelection, KEEPING_TOOL } from '../kernel/tool/kept-changes.ts';
import type { Tool, ToolContext } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { Draft } from '../kernel/tool/view.ts';
import { SCHEMA_FORMATS, type SchemaFormat, type SchemaOf } from '../schema/formats.ts';
import { createRuntime, type RuntimeOptions } from './create-runtime.ts';
import type { Listener } from './event-bus.ts';
import type { ToolExecution } from './history.ts';
import { createTurns } from './order/batch-order.ts';
import type { LiveCalls } from './order/live-calls.ts';
import { CallContext } from './pipeline/call-context.ts';
import type { CallRequest, CallScope } from './pipeline/call-scope.ts';
import { newCallId } from './pipeline/call-scope.ts';
import { executeCall } from './pipeline/execute.ts';
import { draftCall, type Review, reviewCall } from './pipeline/review.ts';
import { ToolRegistry } from './registry/registry.ts';
import { DRY_RUN } from './resume/repeated-call.ts';
import type { Runtime } from './runtime.ts';

export interface ExecutorOptions extends RuntimeOptions {
  /** Offer and accept only this toolset's tools, under its names. */
  toolset?: string;
  /** Holds every call while it is under way, so that it can be stopped by its id. */
  live?: LiveCalls;
}

export interface CallOptions {
  signal?: AbortSignal;
  /**
   * Repeating a key in a session returns the earlier result without another call. With another request it is a
   * CONFLICT.
   */
  key?: string;
  /** Ends the wait for an earlier call with the same key; a call that runs for this request continues. */
  patience?: AbortSignal;
  /** The id of the call, from `newCallId`, for a caller that needs it before the call has ended. */
  id?: string;
  /** Called as soon as the store has the call, with its id or that of the earlier call with the same key. */
  onRecorded?: (callId: string) => void;
}

/** A context, its plain fields, or the context of a running tool, which makes this call a child of that tool's call. */
export type AnyContext = ExecutionContext | ExecutionContextInit | ToolContext;

/**
 * Runs tools by name through the whole pipeline. A call never rejects: its result holds every outcome. Only an invalid
 * context throws.
 */
export class ToolExecutor {
  readonly registry: ToolRegistry;
  readonly #toolset: string | undefined;
  readonly #live: LiveCalls | undefined;
  readonly #rt: Runtime;

  constructor(registry: ToolRegistry = ToolRegistry.shared(), { toolset, live, ...options }: ExecutorOptions = {}) {
    this.registry = registry;
    this.#toolset = toolset;
    this.#live = live;
    this.#rt = createRuntime(
      { find: (name) => registry.find(name, toolset), madeByRuntime: () => registry.madeByRuntime() },
      options,
    );
    if (toolset !== undefined) registry.offered(toolset);
  }

  execute(name: string, context: AnyContext, args: unknown = {}, options: CallOptions = {}): Promise<ToolResult> {
    return this.#run({ tool: String(name), args, ...contextFrom(context), ...options });
  }

  /** Runs calls requested together: conflicting ones in this order, the others in parallel. Results keep this order. */
  executeMany(
    calls: readonly { tool: string; args?: unknown; key?: string; isIncomplete?: boolean }[],
    context: AnyContext,
    options: { signal?: AbortSignal } = {},
  ): Promise<ToolResult[]> {
    const turns = createTurns(calls.length);
    return Promise.all(
      calls.map(async ({ tool, args = {}, key, isIncomplete = false }, index) => {
        const turn = turns[index];
        const request = {
          tool: String(tool),
          args,
          ...contextFrom(context),
          ...options,
          ...(key !== undefined && { key }),
          isIncomplete,
        };
        try {
          return await this.#run(turn === undefined ? request : { ...request, turn });
        } finally {
          turn?.finish();
        }
      }),
    );
  }

  /**
   * Runs queued calls of ended processes. `contextOf` returns the context, because a record holds no path of a machine,
   * or undefined to leave the call to another process. Several processes may do this: each call is taken by one and is
   * a CONFLICT for the others, which do not wait for it.
   */
  async resume(
    contextOf: (call: CallRecord) => MaybePromise<AnyContext | undefined>,
    options: { signal?: AbortSignal } = {},
  ): Promise<ToolResult[]> {
    const results: Promise<ToolResult>[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await this.#rt.store.calls({ states: ['queued'], ...(after !== undefined && { after }) });
      for (const call of page.items) {
        const { tool, args } = call;
        const context = await contextOf(call);
        if (context === undefined) continue;
        const request = {
          tool,
          args,
          resume: call,
          orLeave: true,
          ...contextFrom(withDryRun(call, context)),
          ...options,
        };
        results.push(this.#run(request));
      }
      after = page.next;
    }
    return Promise.all(results);
  }

  /** Registers each call as live, because the calls of every door pass here. */
  #run(request: CallRequest): Promise<ToolResult> {
    const live = this.#live;
    if (live === undefined) return executeCall(this.#rt, request);
    const id = request.resume?.id ?? request.id ?? newCallId();
    request.id = id;
    request.stop = live.begin(id, request.parent?.callId);
    // A call that is taken over under its key is registered under its own id, too.
    request.takeUp = (taken: CallRequest) => this.#run(taken);
    return executeCall(this.#rt, request).then((result) => {
      live.end(id);
      return result;
    });
  }

  /**
   * Returns the text file that a call would write, for a person who may edit it before approval; undefined without one.
   */
  draft(name: string, context: AnyContext, args: unknown = {}): Promise<Draft | undefined> {
    return draftCall(this.#rt, { tool: String(name), args, ...contextFrom(context) });
  }

  /** Validates, judges and presents a call without recording or running it. Hooks run, too. */
  review(name: string, context: AnyContext, args: unknown = {}): Promise<Result<Review>> {
    return reviewCall(this.#rt, { tool: String(name), args, ...contextFrom(context) });
  }

  /** Keeps pending changes whose command has ended, by a call of its own: a person decided about them. */
  keep(
    args: { readonly stage: string; readonly call: string } & ChangesSelection,
    context: AnyContext,
    options: CallOptions = {},
  ): Promise<ToolResult> {
    const tool = this.#rt.madeByRuntime() ?? KEEPING_TOOL;
    return this.#run({ tool, args, ...contextFrom(context), ...options });
  }

  /**
   * Delivers events after they were recorded, and progress as it comes: all, or those of the named types. Returns a
   * function that stops it.
   */
  on(listener: Listener, types?: readonly Event['type'][]): () => void {
    return this.#rt.bus.on(listener, types);
  }

  /** The tools offered to a model: the enabled ones, or those of the toolset if there is one. */
  offered(): Tool[] {
    return this.registry.offered(this.#toolset);
  }

  getAllSchemas<F extends SchemaFormat = 'openai'>(format?: F): SchemaOf<F>[] {
    return this.offered().map(converter(format));
  }

  getSchemasByCategory<F extends SchemaFormat = 'openai'>(category: ToolCategory, format?: F): SchemaOf<F>[] {
    return this.offered()
      .filter((tool) => tool.category === category)
      .map(converter(format));
  }

  /** The latest executions, oldest first. */
  getExecutions(): ToolExecution[] {
    return this.#rt.history.all();
  }

  clearExecutions(): void {
    this.#rt.history.clear();
  }

  /** Every recorded call that the store still has. */
  async history(query: CallQuery = {}): Promise<Page<CallRecord>> {
    return this.#rt.store.calls(query);
  }
}

/** Keeps a dry run of an ended process a dry run. */
function withDryRun({ digest }: CallRecord, context: AnyContext): AnyContext {
  const isDry = digest?.startsWith(DRY_RUN) === true;
  return isDry ? new ExecutionContext({ ...(context as ExecutionContext), dryRun: true }) : context;
}

function contextFrom(context: AnyContext): { context: ExecutionContext; parent?: CallScope } {
  const parent =
    typeof context === 'object' && context !== null
      ? (CallContext.ownerOf(context) as CallScope | undefined)
      : undefined;
  if (parent !== undefined) return { context: parent.context, parent };
  return { context: ExecutionContext.from(context as ExecutionContextInit) };
}

function converter<F extends SchemaFormat>(format: F = 'openai' as F): (tool: Tool) => SchemaOf<F> {
  if (!Object.hasOwn(SCHEMA_FORMATS, format)) {
    const known = Object.keys(SCHEMA_FORMATS).join(', ');
    throw new ToolError('getAllSchemas', `Unknown schema format '${format}': use ${known}.`, { code: 'INVALID_INPUT' });
  }
  return SCHEMA_FORMATS[format] as unknown as (tool: Tool) => SchemaOf<F>;
}
