import type { JsonSchema } from '../kernel/tool/input-schema.ts';
import type { Tool } from '../kernel/tool/tool.ts';

/** One definition, every format in which a model API wants to hear of it. */
export const SCHEMA_FORMATS = {
  'json-schema': toJsonSchema,
  openai: toOpenAIChatTool,
  'openai-responses': toOpenAIResponsesTool,
  anthropic: toAnthropicTool,
} as const;

export type SchemaFormat = keyof typeof SCHEMA_FORMATS;
export type SchemaOf<F extends SchemaFormat> = ReturnType<(typeof SCHEMA_FORMATS)[F]>;

/** What a converter needs to know of a tool. */
type Described = Pick<Tool, 'name' | 'description' | 'input' | 'outputJson'>;

export function toJsonSchema({ name, description, input }: Described): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, description, ...input.json };
}

/** The older «function» shape, also what spec E's `toOpenAIFunctions` lists. */
export function toOpenAIFunction({ name, description, input }: Described) {
  return { name, description, parameters: input.json as { [key: string]: unknown } };
}

/** Chat Completions, and every compatible endpoint. */
export function toOpenAIChatTool(tool: Described) {
  return { type: 'function' as const, function: toOpenAIFunction(tool) };
}

/**
 * The Responses API is strict unless told otherwise, and strict mode forbids optional parameters: ours stay optional,
 * and our own validator is strict for it.
 */
export function toOpenAIResponsesTool(tool: Described) {
  return { type: 'function' as const, ...toOpenAIFunction(tool), strict: false };
}

export function toAnthropicTool({ name, description, input }: Described) {
  return { name, description, input_schema: input.json as { type: 'object'; [key: string]: unknown } };
}
