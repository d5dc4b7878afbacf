import type {
  Tool as AnthropicTool,
  ContentBlock,
  MessageParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources';
import { toAnthropicTool } from './formats.ts';
import { type Context, type ToolHost, unnamed } from './invoke.ts';

/** All tools of an executor, for `tools` of a message. */
export function anthropicTools(host: ToolHost): AnthropicTool[] {
  return host.offered().map(toAnthropicTool);
}

/**
 * Runs the tool uses of a message and returns the one user message that answers them, in order, failures included.
 * Returns undefined when the model asked for none.
 */
export async function answerToolUses(
  host: ToolHost,
  context: Context,
  content: readonly ContentBlock[],
  options: { signal?: AbortSignal } = {},
): Promise<MessageParam | undefined> {
  const asked = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, tool: block.name, args: block.input }] : [],
  );
  if (asked.length === 0) return undefined;
  const results = await host.executeMany(asked.map(unnamed), context, options);
  const blocks = results.map(
    ({ ok, text }, index): ToolResultBlockParam => ({
      type: 'tool_result',
      tool_use_id: asked[index]?.id ?? '',
      content: text,
      ...(!ok && { is_error: true }),
    }),
  );
  return { role: 'user', content: blocks };
}
