import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { Tool } from '../kernel/tool/tool.ts';
import { type Context, createInvoke, type Invoke, type ToolHost } from './invoke.ts';
import { optionalPeer } from './optional-peer.ts';

/**
 * A LangChain structured tool. A failed call throws, as LangChain expects: its own loop turns that into a tool message
 * the model can read.
 */
export async function toLangChainTool(tool: Tool, invoke: Invoke): Promise<DynamicStructuredTool> {
  const { DynamicStructuredTool } = await optionalPeer('@langchain/core', () => import('@langchain/core/tools'));
  return new DynamicStructuredTool({
    name: tool.name,
    description: tool.description,
    schema: tool.input.json as { type: 'object' },
    func: async (args, _manager, config) => {
      const result = await invoke(args, config?.signal);
      if (!result.ok) throw result.error;
      return result.text;
    },
  });
}

/** All tools of an executor, for a LangChain model's `bindTools` or an agent. */
export function langChainTools(host: ToolHost, context: Context): Promise<DynamicStructuredTool[]> {
  return Promise.all(host.offered().map((tool) => toLangChainTool(tool, createInvoke(host, tool.name, context))));
}
