import type {
  ChatCompletionMessageToolCall,
  ChatCompletionTool,
  ChatCompletionToolMessageParam,
} from 'openai/resources';
import type { FunctionTool, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { toOpenAIChatTool, toOpenAIResponsesTool } from './formats.ts';
import { type Context, readArguments, type ToolHost, unnamed } from './invoke.ts';

/** All tools of an executor, for `tools` of a chat completion. */
export function openAITools(host: ToolHost): ChatCompletionTool[] {
  return host.offered().map(toOpenAIChatTool);
}

/**
 * Runs the tool calls of a message and returns one message for each, in order, failures included. Conflicting calls run
 * in their order, the others at once.
 */
export async function answerToolCalls(
  host: ToolHost,
  context: Context,
  calls: readonly ChatCompletionMessageToolCall[] | undefined,
  options: { signal?: AbortSignal } = {},
): Promise<ChatCompletionToolMessageParam[]> {
  const asked = (calls ?? []).map((call) =>
    call.type === 'function'
      ? { id: call.id, tool: call.function.name, args: readArguments(call.function.arguments) }
      : { id: call.id, tool: call.custom.name, args: call.custom.input },
  );
  const results = await host.executeMany(asked.map(unnamed), context, options);
  return results.map(({ text }, index) => ({ role: 'tool', tool_call_id: asked[index]?.id ?? '', content: text }));
}

/** All tools of an executor, for `tools` of a response. */
export function openAIResponsesTools(host: ToolHost): FunctionTool[] {
  return host.offered().map(toOpenAIResponsesTool);
}

/** Same for the Responses API: returns the items to send with the next request. */
export async function answerFunctionCalls(
  host: ToolHost,
  context: Context,
  output: readonly ResponseOutputItem[],
  options: { signal?: AbortSignal } = {},
): Promise<ResponseInputItem.FunctionCallOutput[]> {
  const asked = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, tool: item.name, args: readArguments(item.arguments) }] : [],
  );
  const results = await host.executeMany(asked.map(unnamed), context, options);
  return results.map(({ text }, index) => ({
    type: 'function_call_output',
    call_id: asked[index]?.id ?? '',
    output: text,
  }));
}
