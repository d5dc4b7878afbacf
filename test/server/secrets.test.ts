import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/app/open-app.ts';
import { saveRule } from '../../src/app/rules.ts';
import { TestServer } from './test-server.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start();
});
afterEach(() => server[Symbol.asyncDispose]());

async function log(): Promise<string> {
  const lines: string[] = [];
  for await (const line of server.host.ledger.exportLines()) lines.push(line);
  return lines.join('\n');
}

test('a token in a command is shown to whoever decides, also after a restart, and stands in no record', async () => {
  const { call, approval } = await server.ask({ command: `touch ${TOKEN}` }, 'bash');
  const sealed = join(server.host.stateDir, 'sealed');
  await server.stop();
  await server.start();
  const { body } = await server.get(`/v1/approvals/${approval.id}`);
  expect(body.args.command).toBe(`touch ${TOKEN}`);
  expect(body.preview[0].command).toContain(TOKEN);
  const [file = ''] = readdirSync(sealed);
  expect(statSync(join(sealed, file)).mode & 0o777).toBe(0o600);

  await server.post(`/v1/approvals/${approval.id}/approve`, { digest: body.digest });
  expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
  expect(readdirSync(server.workspace)).toContain(TOKEN);
  expect(await log()).not.toContain(TOKEN);
  expect(await log()).toContain('touch [redacted]');
  expect(JSON.stringify((await server.get('/v1/history')).body)).not.toContain(TOKEN);
  expect(readdirSync(sealed)).toEqual([]);
});

test('a text that only looks hidden is taken over like any other', async () => {
  const { call, approval } = await server.ask({ path: 'a.txt', content: 'say [redacted]\n' });
  await server.stop();
  await server.start();
  await server.post(`/v1/approvals/${approval.id}/approve`);
  expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
  expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe('say [redacted]\n');
});

test('no rule is saved that holds a secret, whoever writes it', async () => {
  const { approval } = await server.ask({ command: `touch ${TOKEN}` }, 'bash');
  const { body } = await server.get(`/v1/approvals/${approval.id}`);
  expect(body).toMatchObject({ always: null, whyNoRule: expect.stringContaining('would keep a secret') });
  const rule = `bash(touch ${TOKEN})`;
  const [app] = server.host.apps.values();
  const answers = [
    await server.post(`/v1/approvals/${approval.id}/approve`, { always: true }),
    await server.post(`/v1/approvals/${approval.id}/approve`, { always: rule }),
    await server.post('/v1/rules', { rule, verdict: 'allow' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect(await saveRule(app as App, { rule, verdict: 'deny' }, 'ana')).toMatchObject({ ok: false });
  expect(JSON.stringify(answers)).not.toContain(TOKEN);
  expect((await server.get(`/v1/approvals/${approval.id}`)).body.state).toBe('pending');
  expect((await server.get('/v1/rules')).body.items).toEqual([]);
  expect(await log()).not.toContain(TOKEN);
});

test('edited arguments run as they were written, and a caller who waits gets what was printed', async () => {
  const { call, approval } = await server.ask();
  const modifiedArgs = { path: 'a.txt', content: `${TOKEN}\n` };
  const { body: review } = await server.post(`/v1/approvals/${approval.id}/review`, { modifiedArgs });
  await server.post(`/v1/approvals/${approval.id}/approve`, { modifiedArgs, digest: review.digest });
  expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
  expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe(`${TOKEN}\n`);
  const { body } = await server.post('/v1/calls', { tool: 'bash', args: { command: 'cat a.txt' } });
  expect(body.outcome.text).toContain(TOKEN);
  expect(await log()).not.toContain(TOKEN);
});

test('a call whose secret is not here any more is not taken over', async () => {
  const { call, approval } = await server.ask({ command: `touch ${TOKEN}` }, 'bash');
  const sealed = join(server.host.stateDir, 'sealed');
  await server.stop();
  for (const name of readdirSync(sealed)) rmSync(join(sealed, name));
  await server.start();
  await server.post(`/v1/approvals/${approval.id}/approve`);
  const ended = await server.ended(call.id);
  expect(ended).toMatchObject({ state: 'cancelled', outcome: { text: expect.stringContaining('held a secret') } });
  expect(readdirSync(server.workspace)).toEqual(['a.txt']);
});
