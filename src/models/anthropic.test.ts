import { expect, test } from 'vitest';
import type { Message } from '../kernel/call/message.ts';
import { type ModelServer, modelServer } from '../testing/model-server.ts';
import { anthropicEvents as events } from '../testing/wire-turn.ts';
import { anthropicModel } from './anthropic.ts';
import type { ModelRequest, TurnDelta } from './model.ts';

const hello: Message = { role: 'user', text: 'Hello', from: 'person' };

function request(...messages: Message[]): ModelRequest {
  return { system: 'Be brief.', tools: [{ name: 'look', description: 'Looks', schema: { type: 'object' } }], messages };
}

function modelAt(server: ModelServer, more: object = {}) {
  return anthropicModel({
    model: 'claude-sonnet-5-5',
    baseUrl: server.url,
    key: 'k-1',
    maxTokens: 1000,
    window: 100_000,
    retryDelayMs: 1,
    ...more,
  });
}

const start = {
  type: 'message_start',
  message: { usage: { input_tokens: 12, cache_read_input_tokens: 7, output_tokens: 1 } },
};
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 42 } },
  { type: 'message_stop' },
];
const say = (text: string) => [block(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text }), stop(0)];
const call = (index: number, id: string, ...json: string[]) => [
  block(index, { type: 'tool_use', id, name: 'look', input: {} }),
  ...json.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  stop(index),
];

const THOUGHT = [
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'Let me ' }),
  delta(0, { type: 'thinking_delta', thinking: 'look.' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  stop(0),
  block(1, { type: 'redacted_thinking', data: 'xyz' }),
  stop(1),
];

test('thinking, parallel calls and their arguments come out of the stream whole', async () => {
  const chunks = events(
    start,
    { type: 'ping' },
    ...THOUGHT,
    ...call(2, 'toolu_1', '{"at": "本', '地", "n"', ': 1}'),
    ...call(3, 'toolu_2'),
    ...end('tool_use'),
  );
  // Cut inside characters and between the two bytes of a line end.
  const bytes = Buffer.from(chunks.join('').replaceAll('\n', '\r\n'));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(at * 7, at * 7 + 7));
  await using server = await modelServer([{ chunks: pieces }]);
  const heard: TurnDelta[] = [];
  const turn = await modelAt(server).turn(request(hello), { onDelta: (one) => heard.push(one) });

  const thought = { thinking: 'Let me look.', signature: 'c2ln', type: 'thinking' };
  expect(turn).toEqual({
    ok: true,
    value: {
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      parts: [
        { type: 'thinking', text: 'Let me look.', wire: 'anthropic', block: thought },
        { type: 'thinking', text: '', wire: 'anthropic', block: { type: 'redacted_thinking', data: 'xyz' } },
        { type: 'call', id: 'toolu_1', name: 'look', args: { at: '本地', n: 1 } },
        { type: 'call', id: 'toolu_2', name: 'look', args: {} },
      ],
      stop: { reason: 'calls' },
      usage: { input: 12, output: 42, cacheRead: 7, cacheWrite: 0 },
    },
  });
  expect(heard.map(({ kind }) => kind)).toEqual(['thinking', 'thinking', 'call', 'call']);
});

test('[A16] the next turn sends thinking back unchanged and all results first, in one message, failures marked', async () => {
  const first = events(start, ...THOUGHT, ...call(2, 'toolu_1', '{}'), ...call(3, 'toolu_2', '{}'), ...end('tool_use'));
  await using server = await modelServer([
    { chunks: first },
    { chunks: events(start, ...say('Done.'), ...end('end_turn')) },
  ]);
  const model = modelAt(server);
  const one = await model.turn(request(hello));
  if (!one.ok) throw new Error(one.error.message);
  const results: Message = {
    role: 'results',
    results: [
      { id: 'toolu_1', name: 'look', callId: 'c1', text: 'a tree', isError: false },
      { id: 'toolu_2', name: 'look', callId: 'c2', text: 'Error: too dark', isError: true },
    ],
  };
  const two = await model.turn(request(hello, one.value, results, { role: 'user', text: 'And?', from: 'person' }));
  expect(two.ok && two.value.parts).toEqual([{ type: 'text', text: 'Done.' }]);

  const { body, headers, path } = server.requests[1] ?? {};
  expect([path, headers?.['x-api-key'], headers?.['anthropic-version']]).toEqual(['/v1/messages', 'k-1', '2023-06-01']);
  expect(body.messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me look.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a tree' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'Error: too dark', is_error: true },
        { type: 'text', text: 'And?', cache_control: { type: 'ephemeral' } },
      ],
    },
  ]);
  expect(body.system).toEqual([{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }]);
  expect(body.tools).toEqual([
    { name: 'look', description: 'Looks', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
  ]);
});

test.each([
  ['cut-off', ['{"path": "a', '.txt'], 'not complete JSON'],
  ['no object', ['[1]'], 'must be a JSON object'],
  ['repeated', ['{"path": "a", "path": "b"}'], 'is there twice'],
  ['huge', ['{"path": "', 'x'.repeat(1_500_000), 'x'.repeat(1_500_000), '"}'], 'at most 2097152 fit'],
])('%s arguments are a problem of their call, never half an object', async (_, json, problem) => {
  await using server = await modelServer([{ chunks: events(start, ...call(0, 't1', ...json), ...end('tool_use')) }]);
  const turn = await modelAt(server).turn(request(hello));
  const part = turn.ok ? turn.value.parts[0] : undefined;
  expect(part).toMatchObject({ type: 'call', id: 't1', args: {}, problem: expect.stringContaining(problem) });
});

test('a call that the output limit may have cut off is not one to make, even if it looks whole', async () => {
  const chunks = events(start, ...call(0, 't1', '{"a":1}'), ...call(1, 't2', '{"a":1}'), ...end('max_tokens'));
  await using server = await modelServer([{ chunks }]);
  const turn = await modelAt(server).turn(request(hello));
  expect(
    turn.ok && turn.value.parts.map((part) => part.type === 'call' && (part.problem ?? 'fine').slice(0, 17)),
  ).toEqual(['fine', 'They were cut off']);
  expect(turn.ok && turn.value.stop).toEqual({ reason: 'length' });
});

test.each([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['pause_turn', 'paused'],
  ['refusal', 'refused'],
  ['model_context_window_exceeded', 'window'],
  ['a_new_one', 'unknown'],
])('stop reason %s is understood as %s', async (word, reason) => {
  await using server = await modelServer([{ chunks: events(start, ...say('Hm.'), ...end(word)) }]);
  const turn = await modelAt(server).turn(request(hello));
  expect(turn.ok && turn.value.stop.reason).toBe(reason);
});

const FINE = { chunks: events(start, ...say('Here I am.'), ...end('end_turn')) };
const LIMITED = {
  type: 'error',
  error: {
    type: 'rate_limit_error',
    message: 'Over 40,000 input tokens per minute: reduce the prompt length, or try again later.',
  },
};
const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

test.each([
  ['429 with a wait', { status: 429, headers: { 'retry-after-ms': '3' } }, 'answered 429'],
  [
    '429 that speaks of the prompt',
    { status: 429, headers: { 'retry-after-ms': '3' }, chunks: [JSON.stringify(LIMITED)] },
    'answered 429: Over 40,000 input tokens',
  ],
  ['a limit in mid-stream', { chunks: events(start, ...say('Half'), LIMITED) }, '(rate_limit_error): Over 40,000'],
  ['529', { status: 529, headers: {}, chunks: [JSON.stringify(OVERLOADED)] }, 'answered 529: Overloaded'],
  ['a cut stream', { chunks: events(start, ...say('Half').slice(0, 2)), after: 'cut' as const }, 'broke off'],
  ['a stream without its end', { chunks: events(start, ...say('Half')) }, 'before its answer was complete'],
  ['overload in mid-stream', { chunks: events(start, ...say('Half'), OVERLOADED) }, '(overloaded_error): Overloaded'],
  ['something that is not JSON', { chunks: ['event: message_delta\ndata: {"type":\n\n'] }, 'is not JSON'],
  [
    'inconsistent events',
    { chunks: events(start, delta(4, { type: 'text_delta', text: 'x' })) },
    'inconsistent events',
  ],
  ['silence', { chunks: events(start), after: 'hang' as const }, 'nothing came for 0.2 s'],
])('after %s the turn is asked for again, and what was heard is taken back', async (_, reply, why) => {
  await using server = await modelServer([reply, FINE]);
  const heard: TurnDelta[] = [];
  const turn = await modelAt(server, { stallMs: 200 }).turn(request(hello), { onDelta: (one) => heard.push(one) });
  expect(turn.ok && turn.value.parts).toEqual([{ type: 'text', text: 'Here I am.' }]);
  expect(server.requests).toHaveLength(2);
  const restarted = heard.find(({ kind }) => kind === 'restarted');
  expect(restarted?.text).toContain(why);
  expect(heard.slice(heard.indexOf(restarted as TurnDelta) + 1)).toEqual([{ kind: 'text', text: 'Here I am.' }]);
});

test('after the last try the reason is told, with the number of tries', async () => {
  await using server = await modelServer(() => ({ status: 500, headers: {}, chunks: ['{"message":"boom"}'] }));
  const turn = await modelAt(server, { tries: 3 }).turn(request(hello));
  expect(turn).toMatchObject({
    ok: false,
    error: { code: 'NETWORK_ERROR', message: expect.stringMatching(/500: boom.*failed 3 times/) },
  });
  expect(server.requests).toHaveLength(3);
});

test.each([
  [401, 'NOT_CONFIGURED', 'Check the key'],
  [404, 'NOT_CONFIGURED', 'modelBaseUrl'],
  [400, 'INVALID_INPUT', 'bad'],
  [413, 'TOO_LARGE', '413'],
  [302, 'NOT_CONFIGURED', 'redirects to http://127.0.0.1:9/steal'],
])('%i is no reason to try again', async (status, code, words) => {
  const headers = { location: 'http://127.0.0.1:9/steal' };
  await using server = await modelServer(() => ({ status, headers, chunks: ['{"error":{"message":"bad"}}'] }));
  const turn = await modelAt(server).turn(request(hello));
  expect(turn).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(words) } });
  expect(server.requests).toHaveLength(1);
});

test('a wait longer than a minute is told instead of waited', async () => {
  await using server = await modelServer(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
  const turn = await modelAt(server).turn(request(hello));
  expect(turn).toMatchObject({ ok: false, error: { message: expect.stringContaining('asks to wait 3600 s') } });
});

test('an endpoint that is a web page is told from a model', async () => {
  await using server = await modelServer([{ headers: { 'content-type': 'text/html' }, chunks: ['<h1>Welcome'] }]);
  const turn = await modelAt(server).turn(request(hello));
  expect(turn).toMatchObject({
    ok: false,
    error: { code: 'NOT_CONFIGURED', message: expect.stringContaining('<h1>Welcome') },
  });
});

test.each([
  ['while it streams', { chunks: events(start), after: 'hang' as const }],
  ['while it waits', { status: 503, headers: { 'retry-after': '30' } }],
])('a signal ends a turn %s', async (_, reply) => {
  await using server = await modelServer(() => reply);
  const stopper = new AbortController();
  setTimeout(() => stopper.abort(), 100);
  const turn = await modelAt(server).turn(request(hello), { signal: stopper.signal });
  expect(turn).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
});
