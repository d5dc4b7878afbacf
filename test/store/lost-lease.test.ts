import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { NewEvent, StoredEvent } from '../../src/kernel/call/event.ts';
import type { SessionHold } from '../../src/kernel/ports.ts';
import { ok } from '../../src/kernel/result.ts';
import type { Access } from '../../src/kernel/tool/access.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { type PostgresServer, startPostgres } from '../postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function opened(schema: string, leaseMs: number) {
  const result = await openPostgresStore(server.url, { schema, leaseMs });
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** A tool that runs until it is stopped. */
function endless(access: readonly Access[] = []) {
  let begun = () => {};
  const begins = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let stopped = () => {};
  const stops = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  const tool = defineTool({
    name: 'endless',
    description: 'Goes on until it is told to stop.',
    input: z.object({}),
    access: () => access,
    run(_input, { signal }) {
      signal.addEventListener('abort', stopped);
      begun();
      return new Promise<ReturnType<typeof ok<string>>>(() => {});
    },
  });
  return { tool, begins, stops };
}

test('a process that lost its lease stops its calls, and then goes on working', async () => {
  const [late, other] = [await opened('told', 1000), await opened('told', 1000)];
  const { tool, begins, stops } = endless();
  const hello = defineTool({
    name: 'hello',
    description: 'Says hello.',
    input: z.object({}),
    access: () => [],
    run: () => ok('hello'),
  });
  const app = createToolwright({ tools: [tool, hello], ...late });
  const answer = app.call('endless');
  await begins;
  const client = new pg.Client(server.url);
  await client.connect();
  let end: StoredEvent | undefined;
  // It renews now and then, and might just have done so.
  for (let tries = 0; tries < 100 && end === undefined; tries++) {
    await client.query('UPDATE told.nodes SET lease_until = 0 WHERE id = $1', [late.store.node.id]);
    [end] = await other.store.recover();
  }
  expect(end).toMatchObject({ type: 'call.finished', data: { state: 'interrupted' } });

  await stops;
  expect(await answer).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(await app.call('hello')).toMatchObject({ ok: true });
  const ends = (await other.store.events('local')).filter(({ type }) => type === 'call.finished');
  expect(ends.length).toBe(2);
  expect((await other.store.verify()).problems).toEqual([]);
  await client.end();
  await late.store.close();
  await other.store.close();
});

test('a queued call of such a process is left to the process that takes it over', async () => {
  const [late, other] = [await opened('waiting', 1000), await opened('waiting', 1000)];
  const access = [{ kind: 'fs.write', path: 'a' }] as const;
  const { tool, begins, stops } = endless(access);
  const next = defineTool({
    name: 'next',
    description: 'Waits for the other one.',
    input: z.object({}),
    access: () => access,
    run: () => ok('ran'),
  });
  const app = createToolwright({ tools: [tool, next], ...late });
  const answers = [app.call('endless'), app.call('next')];
  await begins;
  const client = new pg.Client(server.url);
  await client.connect();
  let left: readonly StoredEvent[] = [];
  for (let tries = 0; tries < 100 && left.length === 0; tries++) {
    await client.query('UPDATE waiting.nodes SET lease_until = 0 WHERE id = $1', [late.store.node.id]);
    left = await other.store.recover();
  }
  expect(left.map(({ type }) => type).toSorted()).toEqual(['call.finished', 'call.requeued']);
  await stops;
  for (const answer of await Promise.all(answers)) expect(answer.error?.code).toBe('INTERNAL');
  expect((await other.store.calls({ states: ['queued'] })).items.map((call) => call.tool)).toEqual(['next']);
  await client.end();
  await late.store.close();
  await other.store.close();
});

test('a process that lost its lease while a request waited runs the call when it is approved, and its end is recorded', async () => {
  const [late, other] = [await opened('thinking', 60_000), await opened('thinking', 60_000)];
  let ran = 0;
  const tool = defineTool({
    name: 'asked',
    description: 'Asks first.',
    input: z.object({}),
    access: () => [],
    approval: () => 'It always asks.',
    run: () => ok(`ran ${++ran}`),
  });
  const approver = async () => {
    const { node } = late.store;
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query('UPDATE thinking.nodes SET epoch = epoch + 1 WHERE id = $1', [node.id]);
    await client.end();
    // Whatever it writes next, it is told of its new life.
    await late.store.record({ type: 'tool.switched', at: 1, data: { tool: 'other', enabled: true, by: 'ann' } });
    expect(late.store.node.epoch).toBe(node.epoch + 1);
    return { approved: true };
  };
  const app = createToolwright({ tools: [tool], approver, ...late });
  expect(await app.call('asked')).toMatchObject({ ok: true, output: 'ran 1' });
  const { items } = await other.store.calls({});
  expect(items.map(({ state }) => state)).toEqual(['succeeded']);
  expect(await other.store.recover()).toEqual([]);
  await late.store.close();
  await other.store.close();
});

test('a session of a process that lost its lease is taken over, and the first process appends nothing more', async () => {
  const [late, other] = [await opened('held', 1000), await opened('held', 1000)];
  const said = (text: string) =>
    [
      { type: 'message.added', callId: null, at: 1, data: { messageId: text, role: 'user', text } },
    ] as const satisfies NewEvent[];
  expect(await late.store.hold('s1')).toHaveProperty('release');
  await late.store.append('s1', said('before'));
  const client = new pg.Client(server.url);
  await client.connect();
  let hold: SessionHold = { holder: '' };
  for (let tries = 0; tries < 100 && 'holder' in hold; tries++) {
    await client.query('UPDATE held.nodes SET lease_until = 0 WHERE id = $1', [late.store.node.id]);
    hold = await other.store.hold('s1');
  }
  expect(hold).toHaveProperty('release');
  await other.store.append('s1', said('after'));
  await expect(Promise.resolve(late.store.append('s1', said('late')))).rejects.toThrow('may be another');
  expect((await other.store.events('s1')).length).toBe(2);
  expect(await late.store.hold('s2')).toHaveProperty('release');
  await client.end();
  await late.store.close();
  await other.store.close();
});

test('a process that cannot reach the database for the time of its lease stops its calls', {
  timeout: 60_000,
}, async () => {
  const { store, blobs } = await opened('cut_off', 600);
  const { tool, begins, stops } = endless();
  const app = createToolwright({ tools: [tool], store, blobs });
  const answer = app.call('endless');
  await begins;
  await server.kill();
  await stops;
  await server.start();
  // Nobody had taken the call, so its own word about it still counts.
  expect(await answer).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
  expect((await store.calls({ states: ['interrupted'] })).items.length).toBe(1);
  await store.close();
});
