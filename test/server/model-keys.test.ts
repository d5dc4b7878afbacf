import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createSessionRunner } from '../../src/app/agent/session-runner.ts';
import type { Logger } from '../../src/kernel/ports.ts';
import type { Route } from '../../src/protocol/route.ts';
import { ROUTES } from '../../src/protocol/routes.ts';
import { modelServer } from '../../src/testing/model-server.ts';
import { anthropicReply } from '../../src/testing/wire-turn.ts';
import { TestServer } from './test-server.ts';

const CANARY = 'canary-7f3a-of-a-key';
const env = { PATH: process.env.PATH ?? '' };
let server: TestServer;
afterEach(() => server[Symbol.asyncDispose]());

const file = () => join(server.home, '.config/toolwright/credentials.json');

function prepared(lines: string[] = []): TestServer {
  const log = (fields: object, message: string) => lines.push(JSON.stringify([fields, message]));
  const logger: Logger = { debug: log, info: log, warn: log, error: log, isLevelEnabled: () => true };
  return new TestServer({ env, logger, runner: (parts) => createSessionRunner(parts, env) });
}

test('a key that an admin enters is kept for the user alone, used, and in no answer, record or log', async () => {
  const lines: string[] = [];
  server = prepared(lines);
  await server.start();
  await using model = await modelServer(() => anthropicReply({ text: 'Hello.' }, 0));
  const save = (key: string | null, token?: string) =>
    server.send('PUT', '/v1/model/key', { provider: 'anthropic', baseUrl: model.url, key }, token);

  expect((await save(CANARY, await server.tokenFor('ana', 'approver'))).status).toBe(403);
  const saved = await save(CANARY);
  expect(saved.status).toBe(200);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ [new URL(model.url).origin]: CANARY });

  const choice = { provider: 'anthropic', model: 'm', baseUrl: model.url };
  expect((await server.send('PUT', '/v1/model', choice)).status).toBe(200);
  const { body: session } = await server.post('/v1/sessions');
  await server.post(`/v1/sessions/${session.id}/messages`, { text: 'Hi' });
  await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(1);
  expect(model.requests[0]?.headers['x-api-key']).toBe(CANARY);

  await server.stop();
  await server.start();
  const logged = JSON.stringify(lines);
  await server.post('/v1/calls', { tool: 'bash', args: { command: `echo ${CANARY}` }, wait: false });
  const answers: unknown[] = [saved];
  for (const route of Object.values(ROUTES) as Route[]) {
    if (route.method !== 'GET' || route.path.includes(':') || route.path === '/v1/events') continue;
    answers.push(await (await server.fetch(route.path)).text());
  }
  for await (const line of server.host.ledger.exportLines()) {
    answers.push(line);
  }
  expect(answers.length).toBeGreaterThan(15);
  expect(answers.filter((each) => JSON.stringify(each).includes(CANARY))).toEqual([]);
  expect(logged).not.toContain(CANARY);

  expect((await save(null)).status).toBe(200);
  expect(readFileSync(file(), 'utf8')).not.toContain(CANARY);
});

test('a key goes only to the address it was saved for', async () => {
  const lines: string[] = [];
  server = prepared(lines);
  await server.start();
  await using other = await modelServer(() => ({ status: 500, headers: {}, chunks: ['{}'] }));
  await server.send('PUT', '/v1/model/key', { provider: 'openai', key: CANARY });
  expect((await server.get('/v1/models')).body).toMatchObject({
    current: { provider: 'openai' },
    choices: [
      { provider: 'anthropic', ready: false, keyFrom: null },
      { provider: 'openai', ready: true, keyFrom: 'configuration' },
      { provider: 'openai-chat', keyFrom: null },
    ],
  });
  await server.send('PUT', '/v1/model', { provider: 'openai', model: 'm', baseUrl: other.url });
  const { body: session } = await server.post('/v1/sessions');
  await server.post(`/v1/sessions/${session.id}/messages`, { text: 'Hi' });
  await expect.poll(() => other.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  await server.post(`/v1/sessions/${session.id}/stop`);
  expect(JSON.stringify(other.requests)).not.toContain(CANARY);
  const plain = { provider: 'openai', baseUrl: 'http://models.example.org/v1', key: CANARY };
  expect(await server.send('PUT', '/v1/model/key', plain)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('use https') },
  });
  const two = ['me:pw-in-address@one.example', 'two.example'].map((host) => {
    const baseUrl = `https://${host}/v1?k=s3cret`;
    return server.send('PUT', '/v1/model/key', { provider: 'openai-chat', baseUrl, key: `${CANARY}-${host}` });
  });
  expect((await Promise.all(two)).map(({ status }) => status)).toEqual([200, 200]);
  const origins = ['https://api.openai.com', 'https://one.example', 'https://two.example'];
  expect(Object.keys(JSON.parse(readFileSync(file(), 'utf8'))).sort()).toEqual(origins);
  expect(lines.join()).toContain('The key for https://one.example was saved.');
  expect(lines.join()).not.toMatch(/pw-in-address|s3cret/);
});

test('a file of keys that others can read, or that is none, stops the start with what to do, and is not quoted', async () => {
  server = prepared();
  mkdirSync(join(server.home, '.config/toolwright'), { recursive: true });
  writeFileSync(file(), JSON.stringify({ 'https://api.anthropic.com': CANARY }), { mode: 0o644 });
  const refusal = () => server.start().then(String, (error: Error) => error.message);
  expect(await refusal()).toContain(`chmod 600 '${file()}'`);
  chmodSync(file(), 0o600);
  writeFileSync(file(), JSON.stringify({ 'https://api.anthropic.com/v1': CANARY }));
  const said = await refusal();
  expect(said).toContain('by the origin each is for');
  expect(said).not.toContain(CANARY);
  writeFileSync(file(), JSON.stringify({ 'https://api.anthropic.com': CANARY }));
  await server.start();
  expect((await server.get('/v1/models')).body.current).toEqual({ provider: 'anthropic', model: 'claude-sonnet-5-5' });
});
