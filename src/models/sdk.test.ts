import { afterEach, expect, test, vi } from 'vitest';
import { modelServer } from '../testing/model-server.ts';
import { anthropicModel } from './anthropic.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';

afterEach(() => void vi.unstubAllEnvs());

const MODELS = { anthropic: anthropicModel, responses: openaiResponsesModel, chat: openaiChatModel };
const wires = Object.keys(MODELS) as (keyof typeof MODELS)[];
const request = { system: '', tools: [], messages: [{ role: 'user', text: 'Hi', from: 'person' }] } as const;
const options = { model: 'm', maxTokens: 10, window: 1000, retryDelayMs: 1 };

/** Variables the libraries read on their own. */
const VARIABLES = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_WEBHOOK_SIGNING_KEY', 'ANTHROPIC_PROFILE'],
  ...['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY', 'OPENAI_ORG_ID', 'OPENAI_PROJECT_ID', 'OPENAI_WEBHOOK_SECRET'],
];
const HEADERS = ['ANTHROPIC_CUSTOM_HEADERS', 'OPENAI_CUSTOM_HEADERS'];
const ADDRESSES = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'];

test.each(wires)('%s: nothing that is meant for another endpoint goes to this one', async (wire) => {
  for (const name of VARIABLES) vi.stubEnv(name, 'leaked');
  for (const name of HEADERS) vi.stubEnv(name, 'x-corporate: leaked\nauthorization: Bearer leaked');
  for (const name of ADDRESSES) vi.stubEnv(name, 'http://127.0.0.1:9/');
  for (const name of ['ANTHROPIC_LOG', 'OPENAI_LOG']) vi.stubEnv(name, 'debug');
  const printed = (['log', 'debug', 'info', 'warn', 'error'] as const).map((kind) => vi.spyOn(console, kind));
  await using server = await modelServer(() => ({ status: 400, headers: {} }));
  await MODELS[wire]({ ...options, baseUrl: server.url }).turn(request);
  const [{ headers, body } = { headers: {}, body: {} }] = server.requests;
  expect(server.requests).toHaveLength(1);
  expect(JSON.stringify({ headers, body })).not.toContain('leaked');
  expect(headers).not.toHaveProperty('authorization');
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
});

test.each(wires)(
  '%s: what an endpoint refuses is asked for as often as we say, not as the library would',
  async (wire) => {
    await using server = await modelServer(() => ({ status: 500, headers: { 'x-should-retry': 'true' } }));
    await MODELS[wire]({ ...options, baseUrl: server.url, tries: 2 }).turn(request);
    expect(server.requests).toHaveLength(2);
  },
);

test.each(wires)('%s: an event that never ends, or is no object, breaks the stream', async (wire) => {
  const flood = ['event: message_start\ndata: {"a":"', ...Array<string>(9).fill('x'.repeat(1024 * 1024))];
  await using server = await modelServer([
    { chunks: ['event: message_start\ndata: 5\n\n'] },
    { chunks: ['event: message_start\ndata: {"a\n\n'] },
    { chunks: flood, after: 'hang' },
  ]);
  const heard: string[] = [];
  const model = MODELS[wire]({ ...options, baseUrl: server.url, tries: 3 });
  const turn = await model.turn(request, { onDelta: ({ text }) => void heard.push(text) });
  expect(heard).toEqual([expect.stringContaining('is not JSON ("5")'), expect.stringContaining('is not JSON. Trying')]);
  expect(turn).toMatchObject({ ok: false, error: { message: expect.stringContaining('an event larger than 8 MB') } });
});

const KEY = `${'K'.repeat(10)}abcdefghijklmnopqrstuvwxyz0123456789`;
const said = (message: string) => JSON.stringify({ error: { message } });

test.each([
  ['an error that is cut', { status: 400, headers: {}, chunks: [said(`${'x'.repeat(370)} ${KEY}`)] }],
  ['a page that is cut', { headers: { 'content-type': 'text/html' }, chunks: [`${'-'.repeat(85)}${KEY}</pre>`] }],
  ['no JSON', { chunks: [`data: {"a": "${KEY}" oops}\n\n`] }],
  ['no object', { chunks: [`data: "${'x'.repeat(40)}${KEY}"\n\n`] }],
  ['an error in the stream', { chunks: [`data: ${said(`${'x'.repeat(380)} ${KEY}`)}\n\n`] }],
])('no part of the key is quoted from %s', async (_, reply) => {
  await using server = await modelServer([reply]);
  const turn = await openaiChatModel({ ...options, key: KEY, baseUrl: server.url, tries: 1 }).turn(request);
  expect(turn).toMatchObject({ ok: false });
  expect(JSON.stringify(turn)).not.toMatch(/K{8}|abcdefgh|6789/);
});
