import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingRunner } from '../../src/app/agent/missing-runner.ts';
import { startServer } from '../../src/app/start-server.ts';
import { serve } from '../../src/http/serve.ts';
import { createTestCertificate } from '../../src/testing/test-certificate.ts';
import { TestServer } from './test-server.ts';

let server: TestServer;
let taken: Server;
let port: number;
beforeAll(async () => {
  server = await TestServer.start();
  taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  port = (taken.address() as { port: number }).port;
});
afterAll(async () => {
  taken.close();
  await server[Symbol.asyncDispose]();
});

test('a port that somebody chose and that is taken is refused with the next step', async () => {
  const { workspace, home } = server;
  const env = { PATH: process.env.PATH ?? '' };
  const started = await startServer({ workspaces: [workspace], home, env, flags: { port: String(port) } });
  expect(started).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
  if (!started.ok) expect(started.error.message).toMatch(/^Port \d+ of 127\.0\.0\.1 is in use\. .*--port 0/);
});

test('the usual port gives way to the next free one', async () => {
  const running = await serve(server.host, server.tokens, { port, orNext: true });
  if (!running.ok) throw new Error(running.error.message);
  expect(running.value.port).toBeGreaterThan(port);
  await running.value.close();
});

test('links begin with the public address, with or without a slash at its end', async () => {
  for (const publicUrl of ['https://tools.example.org', 'https://tools.example.org/', 'https://example.org/tools/']) {
    const running = await serve(server.host, server.tokens, { port: 0, publicUrl });
    if (!running.ok) throw new Error(running.error.message);
    await running.value.close();
    expect(`${running.value.url}/docs`).toBe(`${publicUrl.replace(/\/$/, '')}/docs`);
  }
});

test("a key that is not the certificate's is refused with the next step", async () => {
  const { workspace, home } = server;
  const [tlsCert, tlsKey] = [join(home, 'cert.pem'), join(home, 'key.pem')];
  writeFileSync(tlsCert, createTestCertificate(['localhost']).cert);
  writeFileSync(tlsKey, createTestCertificate(['localhost']).key);
  const env = { PATH: process.env.PATH ?? '' };
  const started = await startServer({ workspaces: [workspace], home, env, flags: { port: '0', tlsCert, tlsKey } });
  expect(started).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
  if (!started.ok) expect(started.error.message).toMatch(/^The certificate cannot be used: .*as tlsKey\.$/);
});

test('a server that cannot listen leaves calls and runs of ended processes to the next one', async () => {
  await using before = new TestServer({ takeOver: false });
  await before.start();
  const { home, workspace, host } = before;
  const args = { path: 'a.txt', content: 'two\n' };
  const id = 'left-behind';
  const asked = { id, session: 's1', agent: null, tool: 'write_file', args, key: null, effect: 'once' } as const;
  const dates = { requestedAt: 1, startedAt: null, finishedAt: null, durationMs: null, outcome: null };
  const created = { workspace: [...host.workspaces.keys()][0] ?? '', title: null, agent: null, by: null };
  await host.ledger.note('s1', { type: 'session.created', callId: null, at: 1, data: created });
  await host.ledger.submit({ ...asked, ...dates, state: 'requested' });
  await before.stop();
  const env = { PATH: process.env.PATH ?? '' };
  let takenUp = false;
  const runner = () => ({
    ...missingRunner,
    takeUp() {
      takenUp = true;
    },
  });
  const options = { workspaces: [workspace], home, env, runner };
  const started = await startServer({ ...options, flags: { port: String(port) } });
  expect(started.ok).toBe(false);
  await before.start();
  expect(takenUp).toBe(false);
  expect(await before.host.ledger.call(id)).toMatchObject({ state: 'requested' });
  const next = await startServer({ ...options, flags: { port: '0' } });
  if (!next.ok) throw new Error(next.error.message);
  for (let tries = 0; tries < 200 && (await before.pending()).length === 0; tries++) await delay(20);
  expect(await before.pending()).toMatchObject([{ stepId: id }]);
  expect(takenUp).toBe(true);
  await next.value.close();
});
