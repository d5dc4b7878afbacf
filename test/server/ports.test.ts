import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../src/app/start-server.ts';
import { serve } from '../../src/http/serve.ts';
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
  if (!started.ok) expect(started.error.message).toMatch(/^Port \d+ of 127\.0\.0\.1 is taken\. .*--port 0/);
});

test('the usual port gives way to the next free one', async () => {
  const running = await serve(server.host, server.tokens, { port, orNext: true });
  if (!running.ok) throw new Error(running.error.message);
  expect(running.value.port).toBeGreaterThan(port);
  await running.value.close();
});
