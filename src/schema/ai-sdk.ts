import type { Tool as AiSdkTool } from 'ai';
import type { Tool } from '../kernel/tool/tool.ts';
import { type Context, createInvoke, type Invoke, type ToolHost } from './invoke.ts';
import { optionalPeer } from './optional-peer.ts';

/** A tool for the Vercel AI SDK. The model reads the bounded text; a failed call is the SDK's tool error. */
export async function toAiSdkTool(tool: Tool, invoke: Invoke): Promise<AiSdkTool<unknown, string>> {
  const { dynamicTool, jsonSchema } = await optionalPeer('ai', () => import('ai'));
  return dynamicTool({
    description: tool.description,
    inputSchema: jsonSchema(tool.input.json),
    execute: async (args, { abortSignal }) => {
      const result = await invoke(args, abortSignal);
      if (!result.ok) throw result.error;
      return result.text;
    },
  }) as AiSdkTool<unknown, string>;
}

/** All tools of an executor, for `generateText({ tools })` and similar functions. */
export async function aiSdkTools(
  host: ToolHost,
  context: Context,
): Promise<Record<string, AiSdkTool<unknown, string>>> {
  const named = host.offered().map(async (tool) => {
    const converted = await toAiSdkTool(tool, createInvoke(host, tool.name, context));
    return [tool.name, converted] as const;
  });
  return Object.fromEntries(await Promise.all(named));
}
