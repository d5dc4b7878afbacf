import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { Tool } from '../../kernel/tool/tool.ts';

/** A tool as MCP lists it. What a client may show its user, or decide by, is never better than the truth. */
export function describeTool(tool: Tool): McpTool {
  const title = titleOf(tool.name);
  return {
    name: tool.name,
    title,
    description: tool.description,
    inputSchema: tool.input.json as McpTool['inputSchema'],
    ...(tool.outputJson !== undefined && { outputSchema: portable(tool.outputJson) as McpTool['outputSchema'] }),
    annotations: { title, ...hintsOf(tool) },
  };
}

/**
 * A hint is for every call of a tool, so it is the worst one: what may overwrite is destructive, and what may reach
 * the network under some rule is open to the world.
 */
function hintsOf({ effect, category }: Tool): ToolAnnotations {
  return {
    readOnlyHint: effect === 'pure',
    destructiveHint: effect !== 'pure',
    idempotentHint: effect !== 'once',
    openWorldHint: !CLOSED_WORLD.has(category),
  };
}

const CLOSED_WORLD: ReadonlySet<ToolCategory> = new Set([ToolCategory.FILE, ToolCategory.NOTEBOOK, ToolCategory.TASK]);

/** `read_file` → «Read file». */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `type: [x, null]` is not understood by every model's API; `anyOf` says the same everywhere. */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = schema as JsonSchema;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, portable(value)]));
  if (!Array.isArray(type)) return type === undefined ? inner : { type, ...inner };
  const { description, default: fallback, ...limits } = inner;
  const anyOf = type.map((each) => (each === 'null' ? { type: each } : { type: each, ...limits }));
  return {
    anyOf,
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
}
