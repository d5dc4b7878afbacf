import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type StartedServer, startServer } from '../../src/app/start-server.ts';
import { fail, ok, type Result } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Json } from './test-server.ts';

let started = 0;
const lasting = defineTool({
  name: 'lasting',
  description: 'Lasts.',
  input: z.object({ ms: z.number() }),
  access: () => [],
  run: ({ ms }, { signal }) => {
    started++;
    return new Promise<Result<string>>((resolve) => {
      const timer = setTimeout(() => resolve(ok('whole')), ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve(fail('CANCELLED', 'It was stopped.'));
      });
    });
  },
});

let home = '';
beforeEach(() => {
  started = 0;
  home = mkdtempSync(join(tmpdir(), 'stop-'));
  mkdirSync(join(home, 'project'));
  writeFileSync(join(home, 'project', 'a.txt'), 'one\n');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function start(graceMs: number): Promise<StartedServer> {
  const env = { PATH: process.env.PATH ?? '' };
  const flags = { port: '0' };
  const up = await startServer({ workspaces: [join(home, 'project')], env, flags, home, tools: [lasting], graceMs });
  if (!up.ok) throw new Error(up.error.message);
  return up.value;
}

function call({ url, token }: StartedServer, tool: string, args: object, wait = true): Promise<Json> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ tool, args, wait });
  return fetch(`${url}/v1/calls`, { method: 'POST', headers, body }).then((answer) => answer.json());
}

async function running(count: number): Promise<void> {
  for (let tries = 0; tries < 1000 && started < count; tries++) await delay(10);
  expect(started).toBe(count);
}

test('a call that ends in the time it is given is answered, although the server stops', async () => {
  const server = await start(20_000);
  const answer = call(server, 'lasting', { ms: 3000 });
  await running(1);
  await server.close();
  expect(await answer).toMatchObject({ state: 'succeeded', outcome: { text: 'whole' } });
});

test('one that takes longer is stopped with a record, readers are told, and what waits for a person still waits', async () => {
  const server = await start(200);
  const { stateDir, workspaces } = server.host;
  const stream = await fetch(`${server.url}/v1/events`, { headers: { Authorization: `Bearer ${server.token}` } });
  const told = stream.text();
  const asked = await call(server, 'write_file', { path: 'a.txt', content: 'two\n' }, false);
  const answer = call(server, 'lasting', { ms: 60_000 });
  // As an agent or an MCP client makes it.
  const [workspace] = workspaces.values();
  const direct = workspace?.executor.execute('lasting', { ...workspace.context, sessionId: 'own' }, { ms: 60_000 });
  await running(2);
  await server.close();
  expect(await answer).toMatchObject({ state: 'interrupted' });
  expect(await direct).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
  expect(await told).toContain('event: server.stopping');
  const opened = await openStore({ directory: stateDir });
  if (!opened.ok) throw new Error(opened.error.message);
  const { items } = await opened.value.store.history({ states: ['interrupted', 'awaiting_approval'] });
  expect(items.map(({ state }) => state).sort()).toEqual(['awaiting_approval', 'interrupted', 'interrupted']);
  expect((await opened.value.store.approvals({ state: 'pending' })).map(({ callId }) => callId)).toEqual([asked.id]);
  await opened.value.store.close();
});
