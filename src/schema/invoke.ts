import type { ExecutionContext, ExecutionContextInit } from '../kernel/call/execution-context.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';

/** What runs a tool that was given to a framework: our executor, so that policy, approval and record apply there too. */
export type Invoke = (args: unknown, signal?: AbortSignal) => Promise<ToolResult>;

/** What a framework's adapter needs of an executor. */
export interface ToolHost {
  offered(): readonly Tool[];
  execute(name: string, context: Context, args: unknown, options: { signal?: AbortSignal }): Promise<ToolResult>;
  executeMany(
    calls: readonly { tool: string; args?: unknown }[],
    context: Context,
    options: { signal?: AbortSignal },
  ): Promise<ToolResult[]>;
}

export type Context = ExecutionContext | ExecutionContextInit;

export function invoking(host: ToolHost, name: string, context: Context): Invoke {
  return (args, signal) => host.execute(name, context, args, signal === undefined ? {} : { signal });
}

/**
 * A call without the model's name for it, which only labels the answer. Some endpoints count those names anew in every
 * turn, or leave them empty: taken for keys, they would answer a call with the result of another.
 */
export function unnamed({ tool, args }: { tool: string; args: unknown }): { tool: string; args: unknown } {
  return { tool, args };
}

/** As a model wrote them. What is no JSON is handed on as it is, so that the call fails in words the model can read. */
export function readArguments(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
