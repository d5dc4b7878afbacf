import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Connection } from './connection.ts';
import type { Door } from './door.ts';
import { runCall } from './run-call.ts';
import { toolAnswer } from './tool-answer.ts';

/** `tools/call`. */
export async function callTool(
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
