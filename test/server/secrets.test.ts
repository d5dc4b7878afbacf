import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { saveRule } from '../../src/app/admin/manage-rules.ts';
import type { App } from '../../src/app/open-app.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { type Json, TestServer } from './test-server.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start({ flags: { ask: 'bash(touch *)' } });
});
afterEach(() => server[Symbol.asyncDispose]());

async function log(): Promise<string> {
  const lines: string[] = [];
  for await (const line of server.host.ledger.exportLines()) lines.push(line);
  return lines.join('\n');
}

test('a token in a command is shown to the approver, also after a restart, and is in no record', async () => {
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
  const { approval } = await server.ask({ command: `npm view ${TOKEN}` }, 'bash');
  const { body } = await server.get(`/v1/approvals/${approval.id}`);
  expect(body).toMatchObject({ always: null, whyNoRule: expect.stringContaining('would save a secret') });
  const rule = `bash(npm view ${TOKEN})`;
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
  const rules = (await server.get('/v1/rules')).body.items.map(({ rule }: Json) => rule);
  expect(rules).toEqual(['bash(touch *)']);
  expect(await log()).not.toContain(TOKEN);
});

test('edited arguments run as they were written, and a token that a command prints is replaced for its caller', async () => {
  const { call, approval } = await server.ask();
  const modifiedArgs = { path: 'a.txt', content: `${TOKEN}\n` };
  const { body: review } = await server.post(`/v1/approvals/${approval.id}/review`, { modifiedArgs });
  await server.post(`/v1/approvals/${approval.id}/approve`, { modifiedArgs, digest: review.digest });
  expect(await server.ended(call.id)).toMatchObject({ state: 'succeeded' });
  expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe(`${TOKEN}\n`);
  const command = `printf '%s%s\\n' ${TOKEN.slice(0, 4)} ${TOKEN.slice(4)}`;
  const { body } = await server.post('/v1/calls', { tool: 'bash', args: { command } });
  expect(body.outcome.text).toMatch(/^\[secret: value of a\.txt, sha256:[0-9a-f]{8}\]/);
  expect(body.outcome.text).not.toContain(TOKEN);
  expect(await log()).not.toContain(TOKEN);
});

test('the whole of a long output hides what its record hides, and is kept as it was for the agent', async () => {
  const text = `${'line\n'.repeat(15_000)}${TOKEN}\n${'line\n'.repeat(15_000)}`;
  const print = defineTool({
    name: 'print',
    description: 'Prints a long text.',
    input: z.object({}),
    access: () => [],
    run: () => ok(text),
  });
  for (const { registry } of server.host.apps.values()) registry.register(print);
  const { body: call } = await server.post('/v1/calls', { tool: 'print' });
  const { artifact } = call.outcome;
  for (const role of ['viewer', 'admin'] as const) {
    const { body } = await server.get(`/v1/calls/${call.id}/output`, await server.tokenFor(role, role));
    expect(body.text).toContain('line\n[redacted]\nline');
    expect(body.text).not.toContain(TOKEN);
  }
  const read = { tool: 'read_output', args: { artifact, offset: 15_001, limit: 1 } };
  expect((await server.post('/v1/calls', read)).body.outcome.text).toContain(TOKEN);
});

test('a call whose secret is no longer available is not taken over', async () => {
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

test('a token that may not approve sees the request with its secrets hidden, in every response', async () => {
  const { call, approval } = await server.ask({ command: `touch ${TOKEN}` }, 'bash');
  const answers = `/v1/approvals/${approval.id}`;
  for (const role of ['viewer', 'agent'] as const) {
    const token = await server.tokenFor(role, role);
    const read = [
      `/v1/calls/${call.id}`,
      answers,
      '/v1/approvals?state=pending',
      `/v1/sessions/${call.session}/events`,
    ];
    for (const path of read) {
      const { status, body } = await server.get(path, token);
      expect({ role, path, status, text: JSON.stringify(body) }).toMatchObject({
        status: 200,
        text: expect.stringContaining('touch [redacted]'),
      });
      expect(JSON.stringify(body)).not.toContain(TOKEN);
    }
  }
  const approver = await server.tokenFor('ann', 'approver');
  const { body: detail } = await server.get(answers, approver);
  expect([detail.args.command, detail.preview[0].command]).toEqual([`touch ${TOKEN}`, `touch ${TOKEN}`]);
  expect((await server.get('/v1/approvals', approver)).body.items[0].args.command).toBe(`touch ${TOKEN}`);
  expect((await server.get(`/v1/calls/${call.id}`, approver)).body.args.command).toBe('touch [redacted]');
  const repeated = { tool: 'bash', args: { command: `touch ${TOKEN}` }, wait: false };
  expect((await server.post('/v1/calls', repeated, approver)).body.args.command).toBe('touch [redacted]');
  const agent = await server.tokenFor('bob', 'agent');
  const cancelled = await server.post(`/v1/calls/${call.id}/cancel`, {}, agent);
  expect([cancelled.status, cancelled.body.args.command]).toEqual([202, 'touch [redacted]']);
});
