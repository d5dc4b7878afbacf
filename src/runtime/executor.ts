import type { CallRecord } from '../kernel/call/call.ts';
import type { ToolCategory } from '../kernel/tool/category.ts';
import { ToolError } from '../kernel/error.ts';
import { ExecutionContext, type ExecutionContextInit } from '../kernel/call/execution-context.ts';
import type { CallQuery, Page } from '../kernel/ports.ts';
import type { MaybePromise, Result } from '../kernel/result.ts';
import type { Tool, ToolContext } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { Draft } from '../kernel/tool/view.ts';
import { SCHEMA_FORMATS, type SchemaFormat, type SchemaOf } from '../schema/formats.ts';
import { turnsFor } from './order/batch-order.ts';
import { CallContext } from './pipeline/call-context.ts';
import { newCallId } from './call-id.ts';
import type { CallRequest, CallScope } from './call-scope.ts';
import { createRuntime, type RuntimeOptions } from './create-runtime.ts';
import { draftCall } from './draft-call.ts';
import type { Listener } from './event-bus.ts';
import { executeCall } from './pipeline/execute.ts';
import type { ToolExecution } from './history.ts';
import type { LiveCalls } from './order/live-calls.ts';
import { ToolRegistry } from './registry/registry.ts';
import { DRY_RUN } from './resume/repeated-call.ts';
import { type Review, reviewCall } from './review.ts';
import type { Runtime } from './runtime.ts';

export interface ExecutorOptions extends RuntimeOptions {
  /** Offer and accept only this toolset's tools, under its names. */
  toolset?: string;
  /** Knows every call while it is under way, so that it can be stopped by its id. */
  live?: LiveCalls;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Repeating a key in a session repeats the answer, not the call. With another request it is a CONFLICT. */
  key?: string;
  /** Ends the wait for the call that was made before under the same key; a call that runs for this request goes on. */
  patience?: AbortSignal;
  /** The call's own id, from `newCallId`, where somebody must know it before the call is over. */
  id?: string;
  /** Told as soon as the store has the call: its id, or that of the one made before under the same key. */
  onRecorded?: (callId: string) => void;
}

/** A context of your own, its plain fields, or the one a tool was given: then this call belongs to that one. */
export type AnyContext = ExecutionContext | ExecutionContextInit | ToolContext;

/**
 * Runs tools by name through the whole pipeline. A call never rejects: every way it can go is in its result. Only a
 * context that makes no sense throws.
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
    this.#rt = createRuntime((name) => registry.find(name, toolset), options);
    if (toolset !== undefined) registry.offered(toolset);
  }

  execute(name: string, context: AnyContext, args: unknown = {}, options: CallOptions = {}): Promise<ToolResult> {
    return this.#run({ tool: String(name), args, ...contextFrom(context), ...options });
  }

  /** Calls asked for together: those that conflict run in this order, the others at once; results come in this order. */
  executeMany(
    calls: readonly { tool: string; args?: unknown; key?: string; isIncomplete?: boolean }[],
    context: AnyContext,
    options: { signal?: AbortSignal } = {},
  ): Promise<ToolResult[]> {
    const turns = turnsFor(calls.length);
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
   * Runs the calls that ended processes left behind and that may run; `contextOf` says where, as a record holds no
   * path of a machine, or leaves the call to others. Others may do the same: each call is taken by one, and is a
   * CONFLICT for the others, who do not wait for it.
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
        const request = { tool, args, resume: call, orLeave: true, ...contextFrom(asItWas(call, context)), ...options };
        results.push(this.#run(request));
      }
      after = page.next;
    }
    return Promise.all(results);
  }

  /** Every door's calls pass here, so this is where they become known to whoever may stop them. */
  #run(request: CallRequest): Promise<ToolResult> {
    const live = this.#live;
    if (live === undefined) return executeCall(this.#rt, request);
    const id = request.resume?.id ?? request.id ?? newCallId();
    request.id = id;
    request.stop = live.begin(id);
    // One that is taken over under its key is known by its own id as well.
    request.takeUp = (taken: CallRequest) => this.#run(taken);
    return executeCall(this.#rt, request).then((result) => {
      live.end(id);
      return result;
    });
  }

  /** The text file a call would leave, for a person who may edit it before saying yes; undefined where there is none. */
  draft(name: string, context: AnyContext, args: unknown = {}): Promise<Draft | undefined> {
    return draftCall(this.#rt, { tool: String(name), args, ...contextFrom(context) });
  }

  /** What would happen to a call: validated, judged and shown, but neither recorded nor run. Hooks are asked too. */
  review(name: string, context: AnyContext, args: unknown = {}): Promise<Result<Review>> {
    return reviewCall(this.#rt, { tool: String(name), args, ...contextFrom(context) });
  }

  /** Tells every event after it was recorded, and progress as it comes. Returns how to stop. */
  on(listener: Listener): () => void {
    return this.#rt.bus.on(listener);
  }

  /** The tools a model may be told of: enabled, and of the toolset if there is one. */
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

/** A dry run that an ended process left behind is still one. */
function asItWas({ digest }: CallRecord, context: AnyContext): AnyContext {
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
