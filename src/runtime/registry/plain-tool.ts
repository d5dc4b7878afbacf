import type { z } from 'zod';
import { ToolError } from '../../kernel/error.ts';
import type { MaybePromise, Result } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import { convert, namedTool, type Tool } from '../../kernel/tool/tool.ts';
import { isZod, zodInput, zodToJson } from '../../kernel/tool/zod-input.ts';
import { foreignInput } from '../../schema/foreign-input.ts';

/** A tool as spec E writes it: an object of data and two functions. Schemas are Zod or JSON Schema. */
export interface PlainTool {
  name: string;
  description: string;
  inputSchema: z.core.$ZodType | JsonSchema;
  outputSchema?: z.core.$ZodType | JsonSchema;
  requiresApproval: boolean | ((args: never) => MaybePromise<boolean>);
  execute(args: never): MaybePromise<PlainResult>;
}

/** Spec E's result: its error code may be any string. */
type PlainResult =
  | { ok: true; value: unknown }
  | { ok: false; error: { code: string; message: string; details?: Record<string, unknown> } };

export function isPlainTool(value: object): value is PlainTool {
  return 'inputSchema' in value && 'execute' in value && typeof value.execute === 'function';
}

/**
 * Converts a plain tool. It declares no access, so it runs alone, with effect `once`, and policy judges it as unknown.
 */
export function fromPlainTool(plain: PlainTool): Tool {
  const { name, description, inputSchema, outputSchema, requiresApproval } = namedTool(plain);
  if (typeof requiresApproval !== 'boolean' && typeof requiresApproval !== 'function') {
    throw new ToolError(name, 'requiresApproval must be true, false or a function of the arguments.', {
      code: 'INVALID_INPUT',
    });
  }
  const input = convert(name, 'input', () => (isZod(inputSchema) ? zodInput(inputSchema) : foreignInput(inputSchema)));
  return {
    name,
    description,
    category: ToolCategory.OTHER,
    effect: 'once',
    input,
    ...(outputSchema && { outputJson: convert(name, 'output', () => outputJson(outputSchema)) }),
    summary: () => name,
    approval: async (args) => {
      const asks =
        typeof requiresApproval === 'function' ? await requiresApproval.call(plain, args as never) : requiresApproval;
      return asks ? `${name} always needs approval for these arguments.` : undefined;
    },
    run: (args) => plain.execute(args as never) as MaybePromise<Result<unknown>>,
  };
}

function outputJson(schema: z.core.$ZodType | JsonSchema): JsonSchema {
  return isZod(schema) ? zodToJson(schema, 'output') : schema;
}
