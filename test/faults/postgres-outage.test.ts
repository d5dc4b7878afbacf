import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Event } from '../../src/kernel/call/event.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { requestedCall } from '../../src/testing/sample-calls.ts';
import { type PostgresServer, startPostgres } from '../postgres-server.ts';

const CALLS = 200;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test(`the database is killed twice during ${CALLS} calls: all settle, none runs twice`, {
  timeout: 90_000,
}, async () => {
  const opened = await openPostgresStore(server.url);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, blobs } = opened.value;
  const runs = new Map<number, number>();
  const count = defineTool({
    name: 'count',
    description: 'Counts its runs.',
    input: z.object({ number: z.number() }),
    access: () => [],
    async run({ number }) {
      runs.set(number, (runs.get(number) ?? 0) + 1);
      await delay(20);
      return ok(number);
    },
  });
  const finals: Event[] = [];
  const app = createToolwright({ tools: [count], store, blobs, sessionId: 's1' });
  app.executor.on((event) => {
    if (event.type === 'call.finished') finals.push(event);
  });

  const calls = Array.from({ length: CALLS }, async (_, number) => {
    await delay(number * 10);
    return app.call('count', { number }, { key: `k${number}` });
  });
  for (let round = 0; round < 2; round++) {
    await delay(500);
    await server.kill();
    await delay(200);
    await server.start();
  }
  const results = await Promise.all(calls);

  expect(results.filter(({ ok: success }) => !success)).toEqual([]);
  expect([...runs.values()].every((times) => times === 1)).toBe(true);
  expect(runs.size).toBe(CALLS);
  expect(new Set(finals.map(({ callId }) => callId)).size).toBe(CALLS);
  expect(finals.length).toBe(CALLS);
  const { items } = await store.calls({ limit: 1000, states: ['succeeded'] });
  expect(items.length).toBe(CALLS);
  expect((await store.events('s1')).length).toBe(3 * CALLS);
  expect((await store.verify()).problems).toEqual([]);

  await store.close();
});

test('a call fails with words when the database stays away, and the next one works when it is back', async () => {
  const opened = await openPostgresStore(server.url, { schema: 'away', patienceMs: 300 });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, blobs } = opened.value;
  const hello = defineTool({
    name: 'hello',
    description: 'Says hello.',
    input: z.object({}),
    access: () => [],
    run: () => ok('hello'),
  });
  const app = createToolwright({ tools: [hello], store, blobs });
  await server.kill();
  const failed = await app.call('hello');
  expect(failed).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(failed.text).toContain('the database does not answer');
  await server.start();
  expect(await app.call('hello')).toMatchObject({ ok: true });
  await store.close();
});

test('large arguments, the clock and upkeep wait for the database too', { timeout: 60_000 }, async () => {
  const opened = await openPostgresStore(server.url, { schema: 'large' });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, blobs } = opened.value;
  await server.kill();
  const call = requestedCall({ args: { content: 'x'.repeat(50_000) } });
  const waiting = Promise.allSettled([
    store.submit(call),
    blobs.put(Buffer.from('an artifact')),
    store.now(),
    store.recover(),
    store.prune({ maxBytes: Number.MAX_SAFE_INTEGER }),
  ]);
  await delay(300);
  await server.start();
  expect((await waiting).map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'));
  expect((await store.call(call.id))?.args).toEqual(call.args);
  await store.close();
});
