import type { Access } from '../../kernel/tool/access.ts';
import type { Effect } from '../../kernel/call/call.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { ExecutionContext, type ExecutionContextInit } from '../../kernel/call/execution-context.ts';
import { type MaybePromise, ok, type Result } from '../../kernel/result.ts';
import { namedTool, type OwnReason, type Tool, type ToolContext, type ToolSource } from '../../kernel/tool/tool.ts';
import { parametersInput, type ToolParameter } from '../../kernel/tool/tool-parameter.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { toAnthropicTool, toOpenAIChatTool } from '../../schema/formats.ts';
import { toLangChainTool } from '../../schema/langchain.ts';
import { createRuntime } from '../create-runtime.ts';
import { executeCall } from '../pipeline/execute.ts';
import type { Runtime } from '../runtime.ts';

export type ParameterValues = Record<string, unknown>;

/**
 * The class way to write a tool: a name, a description, a list of parameters, and `run`. It compiles to the same
 * Tool as `defineTool`, and runs through the same pipeline, alone or in an executor.
 */
export abstract class BaseTool implements ToolSource {
  abstract readonly name: string;
  abstract readonly description: string;
  readonly category: ToolCategory = ToolCategory.OTHER;
  readonly effect: Effect = 'once';
  abstract readonly parameters: readonly ToolParameter[];

  #compiled: Tool | undefined;
  #runtime: Runtime | undefined;

  /** What the tool does. The arguments are valid and have their defaults. */
  protected abstract run(args: ParameterValues, context: ToolContext): MaybePromise<ToolResult | Result<unknown>>;

  /** What a call touches. Left as it is: unknown, so calls of this tool run one at a time. */
  protected access?(args: ParameterValues, context: ToolContext): MaybePromise<readonly Access[]>;

  /** A reason why a person must say yes first. */
  protected approval?(args: ParameterValues, context: ToolContext): MaybePromise<OwnReason | undefined>;

  /** What would happen, in words, for a dry run. Must change nothing. */
  protected preview?(args: ParameterValues, context: ToolContext): MaybePromise<string>;

  /** What the model reads of an output. Left as it is: a string as it stands, the rest as JSON. */
  protected render?(output: unknown): string;

  /** One line for a person; a dry run says it too. */
  protected summary(args: ParameterValues): string {
    const given = Object.entries(args).map(([name, value]) => `${name}=${shortened(value)}`);
    return given.length === 0 ? this.name : `${this.name} ${given.join(', ')}`;
  }

  validateParams(args: ParameterValues = {}): [true, null] | [false, string] {
    const checked = this.toTool().input.check(args);
    return checked.ok ? [true, null] : [false, checked.issues[0].message];
  }

  /** Runs this tool alone: no registry, no rules, nobody to ask. */
  execute(context: ExecutionContext | ExecutionContextInit, args: ParameterValues = {}): Promise<ToolResult> {
    this.#runtime ??= createRuntime(() => ok(this.toTool()), { historyLimit: 1 });
    return executeCall(this.#runtime, { tool: this.toTool(), args, context: ExecutionContext.from(context) });
  }

  toOpenAISchema() {
    return toOpenAIChatTool(this.toTool());
  }

  toAnthropicSchema() {
    return toAnthropicTool(this.toTool());
  }

  /** A LangChain structured tool that runs this one in `context`. Needs @langchain/core; `toolwright/langchain` has its types. */
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

/** What every LangChain tool has, said without LangChain's types: the core does without them. */
export interface LangChainTool {
  name: string;
  description: string;
  invoke(input: never): Promise<unknown>;
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
