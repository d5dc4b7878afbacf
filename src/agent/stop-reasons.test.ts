import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { NO_USAGE } from '../kernel/call/message.ts';
import { ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { anthropicModel } from '../models/anthropic.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { MemoryStore } from '../runtime/memory/memory-store.ts';
import { historyProblems } from '../testing/legal-history.ts';
import { type ModelServer, modelServer, type RawReply } from '../testing/model-server.ts';
import { anthropicEvents } from '../testing/wire-turn.ts';
import type { Budget } from './budget.ts';
import { createAgent } from './create-agent.ts';
import { LoopDetector } from './loop-detector.ts';

let replies: readonly RawReply[] = [];
let first = 0;
let server: ModelServer;
beforeAll(async () => {
  server = await modelServer((_, index) => replies[index - first] ?? said('end_turn', text('Done.')));
});
afterAll(() => server[Symbol.asyncDispose]());

const text = (words: string) => ({ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: words } });
const call = (name: string, json: string) => ({
  start: { type: 'tool_use', id: `t${Math.random()}`, name, input: {} },
  delta: { type: 'input_json_delta', partial_json: json },
});

/** A turn on the wire that stops for this reason. */
function said(reason: string, ...blocks: { start: object; delta: object }[]): RawReply {
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 5 } } },
    ...blocks.flatMap(({ start, delta }, index) => [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason } },
    { type: 'message_stop' },
  ];
  return { chunks: [anthropicEvents(...events).join('')] };
}

const ran: unknown[] = [];
const note = defineTool({
  name: 'note',
  description: 'Notes it.',
  effect: 'once',
  input: z.object({ what: z.string() }),
  access: () => [],
  run({ what }) {
    ran.push(what);
    return ok(`noted ${what}`);
  },
});
const hang = defineTool({
  name: 'hang',
  description: 'Hangs.',
  effect: 'pure',
  input: z.object({}),
  access: () => [],
  run: (_, { signal }) => delay(60_000, ok('late'), { signal }),
});

async function run(turns: readonly RawReply[], budget?: Budget, asked: readonly string[] = ['Go']) {
  replies = turns;
  first = server.requests.length;
  ran.length = 0;
  const store = new MemoryStore();
  const { executor, context } = createToolwright({ tools: [note, hang], store });
  const model = anthropicModel({ model: 'm', baseUrl: server.url, maxTokens: 100, window: 100_000, retryDelayMs: 1 });
  const agent = createAgent({ model, executor, store, context, ...(budget && { budget }) });
  let outcome = await agent.run('s1', asked[0] ?? '');
  for (const more of asked.slice(1)) outcome = await agent.run('s1', more);
  const sent = server.requests.slice(first);
  expect(sent.flatMap(({ path, body }) => historyProblems(path, body))).toEqual([]);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return { ...outcome.value, sent: sent.map(({ body }) => body.messages) };
}

test.each([
  ['end_turn', 'done'],
  ['stop_sequence', 'done'],
  ['refusal', 'refused'],
  ['a_word_of_tomorrow', 'failed'],
])('a turn that stops with %s ends the run as %s', async (reason, end) => {
  const outcome = await run([said(reason, text('Words.'))]);
  expect(outcome).toMatchObject({ reason: end, text: 'Words.' });
  expect(outcome.sent.length).toBe(1);
  if (end === 'failed') expect(outcome.message).toContain(reason);
});

test('a refusal with calls runs none of them', async () => {
  const outcome = await run([said('refusal', call('note', '{"what":"a"}'))]);
  expect(outcome.reason).toBe('refused');
  expect(ran).toEqual([]);
});

test('a paused turn is sent back as it is, and goes on', async () => {
  const search = {
    start: { type: 'server_tool_use', id: 'srv1', name: 'web_search', input: {} },
    delta: { type: 'input_json_delta', partial_json: '{"query":"x"}' },
  };
  const outcome = await run([said('pause_turn', text('I look.'), search)]);
  expect(outcome).toMatchObject({ reason: 'done', text: 'Done.' });
  expect(outcome.sent[1].at(-1)).toEqual({
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'server_tool_use', id: 'srv1', name: 'web_search', input: { query: 'x' } },
    ],
  });
});

test.each(['max_tokens', 'end_turn'])(
  'a turn of thinking alone that stops with %s is not sent back',
  async (reason) => {
    const thought = {
      start: { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
      delta: { type: 'thinking_delta', thinking: '' },
    };
    const hidden = {
      start: { type: 'redacted_thinking', data: 'xyz' },
      delta: { type: 'thinking_delta', thinking: '' },
    };
    for (const blocks of [[thought], [thought, hidden], [thought, text(' ')]]) {
      const outcome = await run([said(reason, ...blocks)], undefined, ['Go', 'And now?']);
      expect(outcome).toMatchObject({ reason: 'done', text: 'Done.' });
      expect(JSON.stringify(outcome.sent)).not.toContain('Hm.');
    }
    const followed = await run([said('end_turn', thought, text('Words.'))], undefined, ['Go', 'And now?']);
    expect(JSON.stringify(followed.sent)).toContain('Hm.');
  },
);

test.each(['max_tokens', 'model_context_window_exceeded'])(
  'after %s the model is told to go on, and a call that was cut off is not made',
  async (reason) => {
    const talk = await run([said(reason, text('Half a sen'))]);
    expect(talk).toMatchObject({ reason: 'done', text: 'Done.' });
    expect(JSON.stringify(talk.sent[1].at(-1))).toContain('cut off');
    const cut = await run([said(reason, call('note', '{"what":"a"}'), call('note', '{"what":"b"}'))]);
    expect(cut.reason).toBe('done');
    expect(ran).toEqual(['a']);
    expect(cut.sent[1].at(-1).content[1]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('cut off'),
    });
  },
);

test('thinking that was cut off before it was signed is not sent back', async () => {
  const thinking = { start: { type: 'thinking', thinking: '' }, delta: { type: 'thinking_delta', thinking: 'Hm' } };
  expect(await run([said('max_tokens', thinking)])).toMatchObject({ reason: 'done', text: 'Done.' });
});

test.each(['pause_turn', 'max_tokens'])(
  'a model that only ever stops with %s is not asked for ever',
  async (reason) => {
    const outcome = await run(Array(20).fill(said(reason, text('And '))));
    expect(outcome.reason).toBe('failed');
    expect(outcome.sent.length).toBe(4);
  },
);

test.each([
  ['a tool that hangs', said('tool_use', call('hang', '{}'))],
  ['a model that hangs', { chunks: [': hello\n\n'], after: 'hang' } as RawReply],
])('a limit on time ends %s, and every call has its answer', { timeout: 20_000 }, async (_, reply) => {
  const outcome = await run([reply], { seconds: 1 });
  expect(outcome).toMatchObject({ reason: 'budget', message: 'It reached the time limit of 1 s.' });
});

test('long results that differ only in their middle are no loop, the same ones are', () => {
  const loops = new LoopDetector();
  const look = (result: string) => {
    const parts = [{ type: 'call' as const, id: 't', name: 'look', args: {} }];
    const turn = { role: 'assistant' as const, parts, model: 'm', stop: { reason: 'calls' as const }, usage: NO_USAGE };
    const results = [{ id: 't', name: 'look', callId: null, text: result, isError: false }];
    return loops.look(turn, { role: 'results', results });
  };
  const long = (at: number) => `${'x'.repeat(3000)}${at}${'y'.repeat(3000)}`;
  expect([10, 11, 12, 13, 14].map((at) => look(long(at)))).toEqual(Array(5).fill('fine'));
  expect([10, 10, 10, 10].map((at) => look(long(at)))).toEqual(['fine', 'warn', 'fine', 'stop']);
});
