import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Json, TestServer } from './test-server.ts';

const TOKEN = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`;

let server: TestServer;
beforeEach(async () => {
  server = new TestServer();
  writeFileSync(join(server.workspace, '.env'), `API_TOKEN=${TOKEN}\n`);
  mkdirSync(join(server.workspace, 'src'));
  writeFileSync(join(server.workspace, 'src/token.txt'), `${TOKEN}\n`);
  await server.start();
});
afterEach(() => server[Symbol.asyncDispose]());

async function read(path: string): Promise<Json> {
  return (await server.post('/v1/calls', { tool: 'read_file', args: { path } })).body.outcome;
}

test('a person with role admin frees a path, and takes it back; everyone else is refused and may look', async () => {
  const wish = { path: '.env', kind: 'no-secret' };
  for (const role of ['viewer', 'agent', 'approver'] as const) {
    const token = await server.tokenFor(role, role);
    expect((await server.post('/v1/paths', wish, token)).status, role).toBe(403);
  }
  expect((await read('.env')).ok).toBe(false);
  const ana = await server.tokenFor('ana', 'admin');
  const made = await server.post('/v1/paths', wish, ana);
  expect(made).toMatchObject({ status: 201, body: { path: '.env', kind: 'no-secret', by: 'ana', digest: null } });
  expect((await read('.env')).text).toContain('API_TOKEN');
  const viewer = await server.tokenFor('eve', 'viewer');
  expect((await server.get('/v1/paths', viewer)).body.items).toEqual([made.body]);
  for (const token of [viewer, await server.tokenFor('bot', 'approver')])
    expect((await server.send('DELETE', `/v1/paths/${made.body.id}`, {}, token)).status).toBe(403);
  expect((await server.send('DELETE', `/v1/paths/${made.body.id}`, {}, ana)).status).toBe(204);
  expect((await server.send('DELETE', `/v1/paths/${made.body.id}`, {}, ana)).status).toBe(404);
  expect((await server.get('/v1/paths')).body.items).toEqual([]);
  expect((await read('.env')).ok).toBe(false);
  const events = await server.host.ledger.log(0, 100);
  expect(
    events.flatMap(({ type, data }) => (type.startsWith('path.') ? [[type, (data as { by: string }).by]] : [])),
  ).toEqual([
    ['path.decided', 'ana'],
    ['path.taken_back', 'ana'],
  ]);
  expect((await server.host.ledger.verify()).problems).toEqual([]);
});

test('a refusal because of a secret tells programs so, with the path that a person may free', async () => {
  server.with({ flags: { sensitiveFiles: 'private.txt' } });
  writeFileSync(join(server.workspace, 'private.txt'), 'mine\n');
  await server.stop();
  await server.start();
  const call = async (tool: string, args: object) => (await server.post('/v1/calls', { tool, args })).body;
  const secret = { reason: 'secret', path: '.env' };
  for (const [tool, args] of [
    ['read_file', { path: './.env' }],
    ['write_file', { path: '.env', content: 'x' }],
    ['bash', { command: 'ls && cat ./.env' }],
    ['bash', { command: 'echo X=1 >> .env' }],
  ] as const) {
    expect(await call(tool, args), `${tool} ${JSON.stringify(args)}`).toMatchObject({
      state: 'denied',
      outcome: { error: { code: 'PERMISSION_DENIED', details: secret } },
    });
  }
  const content = { reason: 'secret', path: 'src/token.txt' };
  expect((await read('src/token.txt')).error.details).toEqual(content);
  const looked = await server.get('/v1/files/content?path=src/token.txt');
  expect(looked).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED', details: content } });
  expect((await server.get('/v1/files/content?path=.env')).body.details).toMatchObject(secret);
  const configured = { reason: 'configured-secret', path: 'private.txt' };
  expect((await read('private.txt')).error.details).toMatchObject(configured);
  expect((await server.get('/v1/files/content?path=private.txt')).body.details).toMatchObject(configured);
  expect((await call('read_file', { path: 'missing.txt' })).outcome.error.details?.reason).toBeUndefined();
});

test('a token that is limited to sessions decides nothing, since a decision applies to all of them', async () => {
  const { body: session } = await server.post('/v1/sessions', {});
  const token = await server.tokenFor('guest', 'admin', [session.id]);
  const refused = await server.post('/v1/paths', { path: '.env', kind: 'commands' }, token);
  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('affects all sessions') } });
});

test('a decision is of its workspace, and holds after a restart', async () => {
  const unknown = await server.post('/v1/paths', { path: '.env', kind: 'commands', workspace: 'nowhere' });
  expect(unknown).toMatchObject({ status: 400, body: { detail: expect.stringContaining('not open here') } });
  const missing = await server.post('/v1/paths', { path: 'nowhere.txt', kind: 'commands' });
  expect(missing).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
  const digest = 'a'.repeat(64);
  await server.post('/v1/paths', { path: 'src/token.txt', kind: 'no-secret' });
  const agreed = await server.post('/v1/paths', { path: 'src/token.txt', kind: 'agreed-text', digest });
  expect(agreed.body).toMatchObject({ digest });
  await server.stop();
  await server.start();
  expect((await server.get('/v1/paths')).body.items).toHaveLength(2);
  expect((await read('src/token.txt')).text).toContain('ghp_');
});
