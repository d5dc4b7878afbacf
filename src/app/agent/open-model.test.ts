import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { modelServer } from '../../testing/model-server.ts';
import { loadConfig } from '../config/load-config.ts';
import { createChosenModel } from './choose-model.ts';
import { configFor, openModel, resolveProvider } from './open-model.ts';

async function modelFrom(env: Record<string, string>) {
  const loaded = await loadConfig({ env, home: '/nowhere' });
  if (!loaded.ok) throw new Error(loaded.error.message);
  return openModel(loaded.value.config, env);
}

test.each([
  [{}, 'No model is configured. Set ANTHROPIC_API_KEY'],
  [{ TOOLWRIGHT_PROVIDER: 'openai-chat' }, 'needs modelBaseUrl, such as'],
  [{ TOOLWRIGHT_MODEL_BASE_URL: 'http://localhost:11434/v1' }, 'needs model, such as'],
  [{ TOOLWRIGHT_PROVIDER: 'anthropic' }, 'api.anthropic.com needs a key: set ANTHROPIC_API_KEY'],
  [
    { TOOLWRIGHT_MODEL_BASE_URL: 'http://models.example.org/v1', TOOLWRIGHT_MODEL: 'm', OPENAI_API_KEY: 'k' },
    'sent unencrypted to http://models.example.org: use https',
  ],
  [
    { TOOLWRIGHT_MODEL_BASE_URL: 'http://me:pw@models.example.org/v1', TOOLWRIGHT_MODEL: 'm', OPENAI_API_KEY: 'k' },
    'The key would be sent unencrypted to http://models.example.org:',
  ],
])('%j says what to do', async (env, words) => {
  expect(await modelFrom(env)).toMatchObject({
    ok: false,
    error: { code: 'NOT_CONFIGURED', message: expect.stringContaining(words) },
  });
});

test.each([
  [{ ANTHROPIC_API_KEY: 'k' }, 'claude-sonnet-5-5'],
  [{ OPENAI_API_KEY: 'k' }, 'gpt-5.4'],
  [{ TOOLWRIGHT_MODEL_BASE_URL: 'http://localhost:11434/v1', TOOLWRIGHT_MODEL: 'qwen3-coder' }, 'qwen3-coder'],
  [{ TOOLWRIGHT_MODEL_KEY_VARIABLE: 'MY_KEY', MY_KEY: 'k', TOOLWRIGHT_PROVIDER: 'anthropic' }, 'claude-sonnet-5-5'],
])('%j gives %s', async (env, name) => {
  const model = await modelFrom(env);
  expect(model.ok && model.value.name).toBe(name);
});

test('base URL, headers, options and limits reach the wire, and a refusal that quotes the key does not show it', async () => {
  const chunks = [JSON.stringify({ error: { message: 'Incorrect API key provided: top-secret' } })];
  await using server = await modelServer(() => ({ status: 401, headers: {}, chunks }));
  const model = await modelFrom({
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'top-secret',
    TOOLWRIGHT_MODEL_HEADERS: 'x-team: blue',
    TOOLWRIGHT_MODEL_OPTIONS: '{"thinking":{"type":"adaptive"}}',
    TOOLWRIGHT_MODEL_MAX_TOKENS: '500',
    TOOLWRIGHT_MODEL_PRICE: '{"input":3,"output":15}',
  });
  if (!model.ok) throw new Error(model.error.message);
  expect(model.value.price).toEqual({ input: 3, output: 15 });
  const turn = await model.value.turn({
    system: '',
    tools: [],
    messages: [{ role: 'user', text: 'Hi', from: 'person' }],
  });
  expect(turn).toMatchObject({ ok: false, error: { message: expect.stringContaining('provided: [key]') } });
  const { headers, body } = server.requests[0] ?? {};
  expect(headers).toMatchObject({ 'x-team': 'blue', 'x-api-key': 'top-secret' });
  expect(body).toMatchObject({ max_tokens: 500, thinking: { type: 'adaptive' } });
});

test('the key of one provider is not that of another', async () => {
  const env = { CORP_KEY: 'k', TOOLWRIGHT_MODEL_BASE_URL: 'https://models.example.org/v1' };
  const given = { ...env, TOOLWRIGHT_MODEL: 'm', TOOLWRIGHT_MODEL_KEY_VARIABLE: 'CORP_KEY' };
  const loaded = await loadConfig({ env: given, home: '/nowhere' });
  if (!loaded.ok) throw new Error(loaded.error.message);
  expect(openModel(loaded.value.config, given).ok).toBe(true);
  expect(openModel(configFor(loaded.value.config, 'anthropic', given), given)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('set ANTHROPIC_API_KEY') },
  });
});

const KEPT = { 'https://api.anthropic.com': 'kept-a', 'https://api.openai.com': 'kept-o' };

test.each([
  [{ OPENAI_API_KEY: 'k' }, KEPT, 'openai', ['x-team: blue']],
  [{}, KEPT, 'anthropic', []],
  [{}, Object.fromEntries(Object.entries(KEPT).reverse()), 'openai', []],
  [{ TOOLWRIGHT_PROVIDER: 'openai' }, KEPT, 'openai', ['x-team: blue']],
  [{}, {}, 'auto', []],
])('with %j and the kept keys %j it is %s, with the headers %j', async (more, kept, provider, modelHeaders) => {
  const env = { ...more, TOOLWRIGHT_MODEL_HEADERS: 'x-team: blue' };
  const loaded = await loadConfig({ env, home: '/nowhere' });
  if (!loaded.ok) throw new Error(loaded.error.message);
  expect(resolveProvider(loaded.value.config, env, kept)).toMatchObject({ provider, modelHeaders });
});

test.each([
  [{ OPENAI_API_KEY: 'k' }, 'openai'],
  [{}, 'anthropic'],
])('with %j, after keys were saved for anthropic and then openai, the model is of %s', async (env, provider) => {
  const home = mkdtempSync(join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const loaded = await loadConfig({ env, home });
  if (!loaded.ok) throw new Error(loaded.error.message);
  const chosen = createChosenModel(loaded.value, env);
  for (const each of ['anthropic', 'openai'] as const)
    expect(await chosen.saveKey({ provider: each, key: `key-of-${each}` })).toMatchObject({ ok: true });
  expect(chosen.view().current?.provider).toBe(provider);
});

test('the model of kept keys is of the same provider after a restart, whatever keys were added', async () => {
  const home = mkdtempSync(join(tmpdir(), 'keys-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const start = async () => {
    const loaded = await loadConfig({ env: {}, home });
    if (!loaded.ok) throw new Error(loaded.error.message);
    return createChosenModel(loaded.value, {});
  };
  const before = await start();
  for (const provider of ['openai', 'anthropic', 'openai'] as const)
    expect(await before.saveKey({ provider, key: `key-of-${provider}` })).toMatchObject({ ok: true });
  expect(before.view().current?.provider).toBe('openai');
  expect((await start()).view().current?.provider).toBe('openai');
});
