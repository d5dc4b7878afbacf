import type { Effect } from '../../kernel/call/call.ts';
import { ExecutionContext, type ExecutionContextInit } from '../../kernel/call/execution-context.ts';
import { type MaybePromise, ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { OwnReason } from '../../kernel/tool/plan.ts';
import { namedTool, type Tool, type ToolContext, type ToolSource } from '../../kernel/tool/tool.ts';
import { parametersInput, type ToolParameter } from '../../kernel/tool/tool-parameter.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { toAnthropicTool, toOpenAIChatTool } from '../../schema/formats.ts';
import { toLangChainTool } from '../../schema/langchain.ts';
import { createRuntime } from '../create-runtime.ts';
import { executeCall } from '../pipeline/execute.ts';
import type { Runtime } from '../runtime.ts';

export type ParameterValues = Record<string, unknown>;

/**
 * A tool as a class: a name, a description, a list of parameters, and `run`. It compiles to the same Tool as
 * `defineTool` and runs through the same pipeline, alone or in an executor.
 */
export abstract class BaseTool implements ToolSource {
  abstract readonly name: string;
  abstract readonly description: string;
  readonly category: ToolCategory = ToolCategory.OTHER;
  readonly effect: Effect = 'once';
  abstract readonly parameters: readonly ToolParameter[];

  #compiled: Tool | undefined;
  #runtime: Runtime | undefined;

  /** Does the work. The arguments are valid and have their defaults. */
  protected abstract run(args: ParameterValues, context: ToolContext): MaybePromise<ToolResult | Result<unknown>>;

  /** Declares what a call touches. Default: unknown, so calls of this tool run one at a time. */
  protected access?(args: ParameterValues, context: ToolContext): MaybePromise<readonly Access[]>;

  /** Returns a reason why the call needs approval. */
  protected approval?(args: ParameterValues, context: ToolContext): MaybePromise<OwnReason | undefined>;

  /** Describes a dry run in words. Must change nothing. */
  protected preview?(args: ParameterValues, context: ToolContext): MaybePromise<string>;

  /** Renders an output for the model. Default: a string as it is, other values as JSON. */
  protected render?(output: unknown): string;

  /** Returns one line for a person; a dry run shows it, too. */
  protected summary(args: ParameterValues): string {
    const given = Object.entries(args).map(([name, value]) => `${name}=${shortened(value)}`);
    return given.length === 0 ? this.name : `${this.name} ${given.join(', ')}`;
  }

  validateParams(args: ParameterValues = {}): [true, null] | [false, string] {
    const checked = this.toTool().input.check(args);
    return checked.ok ? [true, null] : [false, checked.issues[0].message];
  }

  /** Runs this tool alone, without registry, rules or approver. */
  execute(context: ExecutionContext | ExecutionContextInit, args: ParameterValues = {}): Promise<ToolResult> {
    this.#runtime ??= createRuntime(
      { find: () => ok(this.toTool()), madeByRuntime: () => undefined },
      { historyLimit: 1 },
    );
    return executeCall(this.#runtime, { tool: this.toTool(), args, context: ExecutionContext.from(context) });
  }

  toOpenAISchema() {
    return toOpenAIChatTool(this.toTool());
  }

  toAnthropicSchema() {
    return toAnthropicTool(this.toTool());
  }

  /**
   * A LangChain structured tool that runs this one in `context`. Needs @langchain/core; `toolwright/langchain` has its
   * types.
   */
  toLangChainTool(context: ExecutionContext | ExecutionContextInit = { workingDir: '.' }): Promise<LangChainTool> {
    return toLangChainTool(this.toTool(), (args) => this.execute(context, args as ParameterValues));
  }

  toTool(): Tool {
    this.#compiled ??= namedTool({
      name: this.name,
      description: this.description,
      category: this.category,
      effect: this.effect,
      input: parametersInput(this.parameters),
      summary: (args) => this.summary(args as ParameterValues),
      run: (args, context) => this.run(args as ParameterValues, context),
      ...(this.access && {
        access: (args, context) => this.access?.(args as ParameterValues, context) as readonly Access[],
      }),
      ...(this.preview && { preview: (args, context) => this.preview?.(args as ParameterValues, context) as string }),
      ...(this.render && { render: (output) => this.render?.(output) as string }),
      ...(this.approval && { approval: (args, context) => this.approval?.(args as ParameterValues, context) }),
    } satisfies Tool);
    return this.#compiled;
  }
}

/** The common part of LangChain tools, without the types of LangChain: the core does not depend on them. */
export interface LangChainTool {
  name: string;
  description: string;
  invoke(input: never): Promise<unknown>;
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
