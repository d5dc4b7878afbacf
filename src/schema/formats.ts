import type { JsonSchema } from '../kernel/tool/input-schema.ts';
import type { Tool } from '../kernel/tool/tool.ts';

/** One definition in every format of the model APIs. */
export const SCHEMA_FORMATS = {
  'json-schema': toJsonSchema,
  openai: toOpenAIChatTool,
  'openai-responses': toOpenAIResponsesTool,
  anthropic: toAnthropicTool,
} as const;

export type SchemaFormat = keyof typeof SCHEMA_FORMATS;
export type SchemaOf<F extends SchemaFormat> = ReturnType<(typeof SCHEMA_FORMATS)[F]>;

/** The part of a tool that a converter needs. */
type SchemaSource = Pick<Tool, 'name' | 'description' | 'input' | 'outputJson'>;

export function toJsonSchema({ name, description, input }: SchemaSource): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, description, ...input.json };
}

/** The older "function" shape, also the one listed by `toOpenAIFunctions`. */
export function toOpenAIFunction({ name, description, input }: SchemaSource) {
  return { name, description, parameters: input.json as { [key: string]: unknown } };
}

/** Chat Completions, and every compatible endpoint. */
export function toOpenAIChatTool(tool: SchemaSource) {
  return { type: 'function' as const, function: toOpenAIFunction(tool) };
}

/**
 * Sets strict mode off explicitly: the Responses API is strict by default, which forbids optional parameters. Our own
 * validator is strict instead.
 */
export function toOpenAIResponsesTool(tool: SchemaSource) {
  return { type: 'function' as const, ...toOpenAIFunction(tool), strict: false };
}

export function toAnthropicTool({ name, description, input }: SchemaSource) {
  return { name, description, input_schema: input.json as { type: 'object'; [key: string]: unknown } };
}
