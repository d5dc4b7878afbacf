import type { ExecutionContext, ExecutionContextInit } from '../kernel/call/execution-context.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';

/**
 * Runs a tool that was given to a framework, through our executor, so that policy, approval and record apply there too.
 */
export type Invoke = (args: unknown, signal?: AbortSignal) => Promise<ToolResult>;

/** The part of an executor that a framework's adapter needs. */
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

export function createInvoke(host: ToolHost, name: string, context: Context): Invoke {
  return (args, signal) => host.execute(name, context, args, signal === undefined ? {} : { signal });
}

/**
 * Drops the model's id of a call, which only labels the answer. Some endpoints reuse ids in every turn or leave them
 * empty: taken for keys, they would answer a call with the result of another.
 */
export function unnamed({ tool, args }: { tool: string; args: unknown }): { tool: string; args: unknown } {
  return { tool, args };
}

/**
 * Parses arguments as a model wrote them. Invalid JSON is passed on unchanged, so that the call fails with a message
 * the model can read.
 */
export function readArguments(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
