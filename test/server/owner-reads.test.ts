import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from './test-server.ts';

const TOKEN = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`;
const READ = '/v1/files/secret';

let server: TestServer;
let ana: string;
const inWorkspace = (path: string) => join(server.workspace, path);

beforeAll(async () => {
  server = new TestServer();
  writeFileSync(inWorkspace('.env'), `API_TOKEN=${TOKEN}\n`);
  await server.start();
  ana = await server.tokenFor('ana', 'admin');
});
afterAll(() => server[Symbol.asyncDispose]());

async function read(path: string, token = ana) {
  return server.post(READ, { path }, token);
}

test('only an owner without a limit reads a secret: no viewer, no agent, no approver, no token of a session', async () => {
  for (const role of ['viewer', 'agent', 'approver'] as const)
    expect((await read('.env', await server.tokenFor(role, role))).status, role).toBe(403);
  const { body: session } = await server.post('/v1/sessions', {});
  expect((await read('.env', await server.tokenFor('guest', 'admin', [session.id]))).status).toBe(403);
  expect((await server.post(READ, { path: '.env' }, null)).status).toBe(401);
  const answer = await server.fetch(READ, { method: 'POST', token: ana, body: JSON.stringify({ path: '.env' }) });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('etag')).toBeNull();
  const size = `API_TOKEN=${TOKEN}\n`.length;
  expect(await answer.json()).toMatchObject({ path: '.env', content: `API_TOKEN=${TOKEN}\n`, encoding: 'utf-8', size });
  expect((await read('.env', server.tokens.own)).status).toBe(200);
  expect((await server.get(`${READ}?path=.env`, ana)).status).toBe(405);
});

test('the record says who read it and when, and nothing has the content; tools are refused as before', async () => {
  const before = Date.now();
  await read('.env');
  await read('missing.env');
  const { body } = await server.get('/v1/history?tool=person:read-secret&limit=2');
  expect(body.items).toMatchObject([
    { args: { by: 'ana', path: 'missing.env' }, state: 'failed' },
    { args: { by: 'ana', path: '.env' }, state: 'succeeded', outcome: { value: null } },
  ]);
  expect(body.items[1].requestedAt).toBeGreaterThanOrEqual(before);
  const { outcome } = (await server.post('/v1/calls', { tool: 'read_file', args: { path: '.env' } })).body;
  expect(outcome).toMatchObject({ ok: false, error: { details: { reason: 'secret' } } });
  const { items: tools } = (await server.get('/v1/tools')).body;
  expect(tools.map(({ name }: { name: string }) => name).join()).not.toContain('secret');
  expect((await server.host.ledger.verify()).problems).toEqual([]);
  await server.stop();
  const kept = readdirSync(server.host.stateDir, { recursive: true, withFileTypes: true });
  const files = kept.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(readFileSync(file).includes(TOKEN), file).toBe(false);
  await server.start();
});

test("it is never outside the workspace, by no symlink and no hard link, and never Toolwright's own", async () => {
  const outside = join(server.home, 'outside.txt');
  writeFileSync(outside, 'OUTSIDE\n');
  symlinkSync(outside, inWorkspace('out.env'));
  symlinkSync(server.home, inWorkspace('up'));
  linkSync(outside, inWorkspace('hard.env'));
  mkdirSync(inWorkspace('.toolwright'));
  writeFileSync(inWorkspace('.toolwright/config.json'), '{}');
  symlinkSync('.toolwright', inWorkspace('own'));
  for (const [path, code] of [
    ['../outside.txt', 'INVALID_PATH'],
    [outside, 'INVALID_PATH'],
    ['out.env', 'INVALID_PATH'],
    ['up/outside.txt', 'INVALID_PATH'],
    ['hard.env', 'PERMISSION_DENIED'],
    ['.toolwright/config.json', 'PERMISSION_DENIED'],
    ['own/config.json', 'PERMISSION_DENIED'],
  ] as const) {
    const refused = await read(path);
    expect(refused.body.code, path).toBe(code);
    expect(JSON.stringify(refused.body)).not.toContain('OUTSIDE');
  }
  const unknown = await server.post(READ, { path: '.env', workspace: 'nowhere' }, ana);
  expect(unknown.status).toBe(404);
});

test('a symlink inside is followed; what is no text, no file or too large is refused', async () => {
  mkdirSync(inWorkspace('.aws'));
  writeFileSync(inWorkspace('.aws/credentials'), 'key = value\n');
  symlinkSync('.aws/credentials', inWorkspace('link'));
  writeFileSync(inWorkspace('store.jks'), Buffer.from([0xfe, 0xed, 0, 0, 0, 2, 0xff, 0xfe, 0]));
  writeFileSync(inWorkspace('large.env'), 'x'.repeat(1024 * 1024 + 1));
  execFileSync('mkfifo', [inWorkspace('pipe.env')]);
  expect((await read('link')).body).toMatchObject({ path: '.aws/credentials', content: 'key = value\n' });
  for (const [path, code] of [
    ['store.jks', 'INVALID_INPUT'],
    ['large.env', 'TOO_LARGE'],
    ['pipe.env', 'INVALID_PATH'],
    ['.aws', 'INVALID_PATH'],
    ['nothing.env', 'FILE_NOT_FOUND'],
  ] as const)
    expect((await read(path)).body.code, path).toBe(code);
});
