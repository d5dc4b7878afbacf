import type { RawReply } from './model-server.ts';

/** A model's turn for the Anthropic Messages stream. */
export interface WireTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: unknown }[];
}

/** Formats a turn as the Messages API documents its stream. `turn` makes the ids of calls unique in a conversation. */
export function anthropicReply({ text, calls = [] }: WireTurn, turn = 0): RawReply {
  const texts = text === undefined ? [] : [{ block: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }];
  const uses = calls.map(({ name, args }, at) => ({
    block: { type: 'tool_use', id: `toolu_${turn}_${at}`, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
  }));
  const blocks = [...texts, ...uses].flatMap(({ block, delta }, index) => [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]);
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ];
  return { chunks: [anthropicEvents(...events).join('')] };
}

export function anthropicEvents(...events: readonly { type: string; [field: string]: unknown }[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
