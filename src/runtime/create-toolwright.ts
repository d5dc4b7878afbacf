import { ExecutionContext, type ExecutionContextInit } from '../kernel/call/execution-context.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import { type CallOptions, type ExecutorOptions, ToolExecutor } from './executor.ts';
import { builtInToolsets } from './registry/built-in-toolsets.ts';
import { type AnyTool, ToolRegistry } from './registry/registry.ts';

export interface ToolwrightOptions extends ExecutorOptions, Partial<ExecutionContextInit> {
  tools?: readonly AnyTool[];
}

/** A registry, an executor over it, and one context for all calls: enough for most programs. */
export interface Toolwright {
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  readonly context: ExecutionContext;
  call(tool: string, args?: unknown, options?: CallOptions): Promise<ToolResult>;
}

export function createToolwright(options: ToolwrightOptions = {}): Toolwright {
  const {
    tools = [],
    workingDir = options.world?.root ?? '.',
    sessionId,
    agentId,
    dryRun,
    timeout,
    maxOutputSize,
    metadata,
    ...rest
  } = options;
  const context = new ExecutionContext({
    workingDir,
    ...(sessionId !== undefined && { sessionId }),
    ...(agentId !== undefined && { agentId }),
    ...(dryRun !== undefined && { dryRun }),
    ...(timeout !== undefined && { timeout }),
    ...(maxOutputSize !== undefined && { maxOutputSize }),
    ...(metadata !== undefined && { metadata }),
  });
  const registry = new ToolRegistry();
  registry.registerMany(tools);
  for (const toolset of builtInToolsets) registry.addToolset(toolset);
  const executor = new ToolExecutor(registry, rest);
  return {
    registry,
    executor,
    context,
    call: (tool, args, callOptions) => executor.execute(tool, context, args, callOptions),
  };
}
