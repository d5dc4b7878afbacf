import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { Connection } from './connection.ts';
import type { Door } from './door.ts';
import { runCall } from './run-call.ts';
import { serveResources, tellChange } from './serve-resources.ts';
import { toolAnswer } from './tool-answer.ts';

/** Creates a server for one client, of either revision, that offers the executor's tools. */
export function connect(door: Door, era: Connection['era'], session: string): Connection {
  const { executor, resources, version, name = 'toolwright', instructions, extend } = door.options;
  const server = new Server(
    { name, title: 'Toolwright', version },
    {
      capabilities: {
        tools: { listChanged: true },
        ...(resources !== undefined && { resources: { subscribe: resources.watch !== undefined } }),
      },
      ...(instructions !== undefined && { instructions }),
      requestState: { verify: door.states.verify },
      inputRequired: { legacyShim: false },
    },
  );
  const connection: Connection = { era, session, server, calls: new Set(), subscribed: new Set() };
  server.setRequestHandler('tools/list', () => ({ tools: executor.offered().map(describeTool) }));
  server.setRequestHandler('tools/call', (request, ctx) => callTool(door, connection, request, ctx));
  if (resources !== undefined) serveResources(door, connection, resources);
  extend?.(server);
  return connection;
}

/** Notifies a connected client of changes, and ends its calls when it disconnects. */
export function follow(door: Door, connection: Connection): void {
  const { executor, resources } = door.options;
  const { server } = connection;
  const stop = [
    executor.registry.onChange(soon(() => server.sendToolListChanged().catch(() => {}))),
    resources?.watch?.((uri) => tellChange(connection, server, uri)),
  ];
  server.onclose = () => {
    for (const each of stop) each?.();
    door.leave(connection);
  };
}

/** Merges several changes in a short time into one notification. */
export function soon(tell: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      tell();
    }, TELL_AFTER_MS).unref();
  };
}

const TELL_AFTER_MS = 50;

/** Handles `tools/call`. */
async function callTool(
  door: Door,
  connection: Connection,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { name, arguments: args = {} } = params;
  const ended = await runCall(door, connection, { name, args }, ctx);
  if (isInputRequiredResult(ended)) return ended;
  const { executor, context } = door.options;
  const tool = executor.offered().find((each) => each.name === name);
  const answer = toolAnswer(tool, ended.result, { access: ended.run.access, root: context.workingDir });
  return connection.server.projectCallToolResult(answer, tool?.outputJson);
}

/** Describes a tool as MCP lists it. Hints that a client shows or decides by never promise too much. */
function describeTool(tool: Tool): McpTool {
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
 * Hints apply to every call of a tool, so they state the worst case: a tool that may overwrite is destructive, and one
 * that may reach the network under some rule is open-world.
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

/** `read_file` → "Read file". */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Replaces `type: [x, null]`, which some model APIs reject, by `anyOf`. */
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
