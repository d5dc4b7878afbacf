import { ToolCategory } from '../kernel/tool/category.ts';
import { ToolParameter, type ToolParameterInit } from '../kernel/tool/tool-parameter.ts';
import { ToolResult } from '../kernel/tool/tool-result.ts';
import { BaseTool, type ParameterValues } from '../runtime/registry/base-tool.ts';

/** A tool with the given parameters that returns its arguments. */
export class SampleTool extends BaseTool {
  override readonly category: ToolCategory;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ToolParameter[];

  constructor(
    name: string,
    parameters: readonly ToolParameterInit[] = [],
    { description = `Sample tool ${name}`, category = ToolCategory.OTHER as ToolCategory } = {},
  ) {
    super();
    this.name = name;
    this.description = description;
    this.category = category;
    this.parameters = parameters.map((parameter) => new ToolParameter(parameter));
  }

  protected run(args: ParameterValues): ToolResult | Promise<ToolResult> {
    return ToolResult.ok(args);
  }
}

/** Returns its message. */
export class EchoTool extends SampleTool {
  constructor(name = 'Echo') {
    super(name, [{ name: 'message', type: 'string', description: 'Message to echo' }]);
  }

  protected override run({ message }: ParameterValues) {
    return ToolResult.ok(message);
  }
}

const PATH: ToolParameterInit = { name: 'file_path', type: 'string', description: 'Absolute path to the file' };
const CONTENT: ToolParameterInit = { name: 'content', type: 'string', description: 'What to write' };
const COMMAND: ToolParameterInit = { name: 'command', type: 'string', description: 'What to run' };

/** Three tools without effects for scenarios of the executor. */
export const readTool = () => new SampleTool('Read', [PATH], { category: ToolCategory.FILE });
export const writeTool = () => new SampleTool('Write', [PATH, CONTENT], { category: ToolCategory.FILE });
export const bashTool = () => new SampleTool('Bash', [COMMAND], { category: ToolCategory.EXECUTION });
