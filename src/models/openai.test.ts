import { expect, test } from 'vitest';
import type { Message } from '../kernel/call/message.ts';
import { modelServer } from '../testing/model-server.ts';
import type { ModelRequest } from './model.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';

const hello: Message = { role: 'user', text: 'Hello', from: 'person' };
const tools = [{ name: 'look', description: 'Looks', schema: { type: 'object' as const } }];
const request = (...messages: Message[]): ModelRequest => ({ system: 'Be brief.', tools, messages });
const options = { model: 'gpt-5.4', key: 'k-1', maxTokens: 1000, window: 100_000, retryDelayMs: 1 };
const results: Message = {
  role: 'results',
  results: [
    { id: 'c1', name: 'look', callId: 'x', text: 'a tree', isError: false },
    { id: 'c2', name: 'look', callId: 'y', text: 'Error: too dark', isError: true },
  ],
};

const lines = (...list: unknown[]) =>
  list.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`);
const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const part = (index: number | undefined, fields: object) =>
  chunk({ tool_calls: [{ ...(index !== undefined && { index }), ...fields }] });
const USAGE = {
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
};

test('chat: reasoning, text and parallel calls in pieces become one turn, and go back as the format wants them', async () => {
  const first = lines(
    chunk({ role: 'assistant', reasoning_content: 'Hm. ' }),
    chunk({ content: 'Look' }),
    chunk({ content: 'ing.' }),
    part(0, { id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }),
    part(0, { function: { arguments: '{"at":' } }),
    part(1, { id: 'c2', type: 'function', function: { name: 'look', arguments: '' } }),
    part(0, { function: { arguments: '1}' } }),
    chunk({}, 'tool_calls'),
    USAGE,
    '[DONE]',
  );
  await using server = await modelServer([
    { chunks: first },
    { chunks: lines(chunk({ content: 'Done.' }), chunk({}, 'stop')) },
  ]);
  const model = openaiChatModel({ ...options, baseUrl: `${server.url}/v1` });
  const one = await model.turn(request(hello));
  if (!one.ok) throw new Error(one.error.message);
  expect(one.value.parts).toEqual([
    { type: 'thinking', text: 'Hm. ', wire: 'openai-chat', block: { reasoning_content: 'Hm. ' } },
    { type: 'text', text: 'Looking.' },
    { type: 'call', id: 'c1', name: 'look', args: { at: 1 } },
    { type: 'call', id: 'c2', name: 'look', args: {} },
  ]);
  expect(one.value).toMatchObject({ stop: { reason: 'calls' }, usage: { input: 6, output: 5, cacheRead: 4 } });

  const two = await model.turn(request(hello, one.value, results));
  expect(two.ok && two.value.stop).toEqual({ reason: 'end' });
  expect(server.requests[1]?.headers.authorization).toBe('Bearer k-1');
  expect(server.requests[1]?.body.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: 'Looking.',
      reasoning_content: 'Hm. ',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
        { id: 'c2', type: 'function', function: { name: 'look', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'a tree' },
    { role: 'tool', tool_call_id: 'c2', content: 'Error: too dark' },
  ]);
});

test('chat: a gateway without indexes that says "stop" although it calls is understood', async () => {
  const chunks = lines(
    part(undefined, { id: 'c1', function: { name: 'look', arguments: '{"a":1}' } }),
    part(undefined, { id: 'c2', function: { name: 'look', arguments: '{"a":' } }),
    part(undefined, { function: { arguments: '2}' } }),
    chunk({}, 'stop'),
  );
  await using server = await modelServer([{ chunks }]);
  const turn = await openaiChatModel({ ...options, baseUrl: server.url }).turn(request(hello));
  expect(turn.ok && turn.value.parts.map((one) => one.type === 'call' && one.args)).toEqual([{ a: 1 }, { a: 2 }]);
  expect(turn.ok && turn.value.stop).toEqual({ reason: 'calls' });
});

test('chat: cut-off arguments, a cut stream and an error inside it are told apart', async () => {
  const cut = lines(part(0, { id: 'c1', function: { name: 'look', arguments: '{"a":' } }), chunk({}, 'length'));
  await using server = await modelServer([
    { chunks: lines(chunk({ content: 'Ha' })), after: 'cut' },
    { chunks: lines(chunk({ content: 'Ha' }), { error: { type: 'server_error', message: 'oops' } }) },
    { chunks: cut },
  ]);
  const turn = await openaiChatModel({ ...options, baseUrl: server.url }).turn(request(hello));
  expect(turn.ok && turn.value.parts).toMatchObject([{ args: {}, problem: expect.stringContaining('cut off') }]);
  expect(turn.ok && turn.value.stop).toEqual({ reason: 'length' });
  expect(server.requests).toHaveLength(3);
});

const item = (output_index: number, fields: object) => ({
  type: 'response.output_item.done',
  output_index,
  item: fields,
});
const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: 'zzz',
};
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'look',
  arguments: '{"at":1}',
  status: 'completed',
};

test('responses: reasoning goes back with its encrypted content, before its calls and their outputs', async () => {
  const usage = { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } };
  const first = lines(
    { type: 'response.created', response: {} },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Hm.' },
    item(0, REASONING),
    { type: 'response.output_item.added', output_index: 1, item: { ...CALL, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"at":' },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '1}' },
    item(1, CALL),
    item(2, { ...CALL, id: 'fc_2', call_id: 'c2', arguments: '' }),
    { type: 'response.completed', response: { status: 'completed', usage } },
  );
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] };
  const second = lines(item(0, message), { type: 'response.completed', response: { status: 'completed' } });
  await using server = await modelServer([{ chunks: first }, { chunks: second }]);
  const model = openaiResponsesModel({ ...options, baseUrl: `${server.url}/v1` });
  const one = await model.turn(request(hello));
  if (!one.ok) throw new Error(one.error.message);
  expect(one.value).toMatchObject({
    stop: { reason: 'calls' },
    usage: { input: 6, output: 5, cacheRead: 4 },
    parts: [
      { type: 'thinking', text: 'Hm.' },
      { type: 'call', id: 'c1', args: { at: 1 } },
      { type: 'call', id: 'c2', args: {} },
    ],
  });
  const two = await model.turn(request(hello, one.value, results));
  expect(two.ok && two.value.parts).toEqual([{ type: 'text', text: 'Done.' }]);
  expect(server.requests[1]?.body.input).toEqual([
    { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
    REASONING,
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
    { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'a tree' },
    { type: 'function_call_output', call_id: 'c2', output: 'Error: too dark' },
  ]);
});

test('responses: failure, incompleteness and refusal are told apart', async () => {
  const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
  await using server = await modelServer([
    { chunks: lines({ type: 'response.failed', response: { error: { code: 'server_error', message: 'oops' } } }) },
    {
      chunks: lines(item(0, CALL), {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      }),
    },
    { chunks: lines(item(0, refusal), { type: 'response.completed', response: { status: 'completed' } }) },
  ]);
  const model = openaiResponsesModel({ ...options, baseUrl: server.url });
  const cut = await model.turn(request(hello));
  expect(cut.ok && cut.value).toMatchObject({
    stop: { reason: 'length' },
    parts: [{ problem: expect.stringContaining('cut off') }],
  });
  const refused = await model.turn(request(hello));
  expect(refused.ok && refused.value).toMatchObject({
    stop: { reason: 'refused' },
    parts: [{ type: 'text', text: 'No.' }],
  });
});

test.each([
  ['still coming', { type: 'response.output_item.added', output_index: 0, item: REASONING }],
  ['whole', item(0, REASONING)],
])(
  'responses: a thought that is %s when the turn is cut off is not kept, since it is not taken back',
  async (_, last) => {
    const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    await using server = await modelServer([{ chunks: lines(last, { type: 'response.incomplete', response }) }]);
    const turn = await openaiResponsesModel({ ...options, baseUrl: server.url }).turn(request(hello));
    expect(turn.ok && turn.value).toMatchObject({ stop: { reason: 'length' }, parts: [] });
  },
);
