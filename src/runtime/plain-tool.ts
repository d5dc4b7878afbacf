import { z } from 'zod';
import { ToolCategory } from '../kernel/category.ts';
import { ERROR_CODES, type ErrorCode, ToolError } from '../kernel/error.ts';
import type { JsonSchema } from '../kernel/input-schema.ts';
import { fail, isResult, type MaybePromise, ok, type Result } from '../kernel/result.ts';
import { convert, namedTool, type Tool } from '../kernel/tool.ts';
import { zodInput, zodToJson } from '../kernel/zod-input.ts';
import { foreignInput } from '../schema/foreign-input.ts';

/** A tool as spec E writes it: an object of data and two functions. Schemas are Zod or JSON Schema. */
export interface PlainTool {
  name: string;
  description: string;
  inputSchema: z.ZodType | JsonSchema;
  outputSchema?: z.ZodType | JsonSchema;
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

/** It says nothing of what it touches, so it runs alone, once, and asks where policy asks about the unknown. */
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
      const asks = typeof requiresApproval === 'function' ? await requiresApproval(args as never) : requiresApproval;
      return asks ? `${name} always needs a yes for these arguments.` : undefined;
    },
    run: async (args) => knownCode(await plain.execute(args as never)),
  };
}

function outputJson(schema: z.ZodType | JsonSchema): JsonSchema {
  return isZod(schema) ? zodToJson(schema, 'output') : schema;
}

function isZod(schema: z.ZodType | JsonSchema): schema is z.ZodType {
  return schema instanceof z.ZodType;
}

/** A code of the tool's own goes into the details: the doors answer a closed list. */
function knownCode(result: PlainResult): Result<unknown> {
  if (!isResult(result)) return result as never;
  if (result.ok) return ok(result.value);
  const { code, message, details } = result.error;
  if ((ERROR_CODES as readonly string[]).includes(code)) return fail(code as ErrorCode, message, details);
  return fail('EXECUTION_ERROR', message, { ...details, code });
}
