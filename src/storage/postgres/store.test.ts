import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../test/postgres-server.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { armFailpoints } from '../../kernel/failpoint.ts';
import { blobContract } from '../../testing/blob-contract.ts';
import { ledgerContract, type OpenShared } from '../../testing/ledger/ledger-contract.ts';
import { settingsContract } from '../../testing/ledger/settings-contract.ts';
import { upkeepContract } from '../../testing/ledger/upkeep-contract.ts';
import { verifyContract } from '../../testing/ledger/verify-contract.ts';
import { asked, finished, requestedCall, started } from '../../testing/sample-calls.ts';
import { storeContract } from '../../testing/store-contract.ts';
import { Connections } from './connections.ts';
import { openPostgresStore } from './open.ts';

let server: PostgresServer;
let schemas = 0;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function fresh() {
  const opened = await openPostgresStore(server.url, { schema: `test_${++schemas}` });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

describe('the PostgreSQL store keeps what every store promises', () => {
  const checks = storeContract(async () => {
    const { store } = await fresh();
    return { subject: store, close: () => store.close() };
  });
  for (const { title, run } of checks) test(title, run);
});

describe('the PostgreSQL store keeps what a shared store promises', () => {
  const open: OpenShared = async () => {
    const schema = `test_${++schemas}`;
    const ledgers: Ledger[] = [];
    return { subject: { ledger: await another(), another }, close };

    async function another() {
      const opened = await openPostgresStore(server.url, { schema });
      if (!opened.ok) throw new Error(opened.error.message);
      ledgers.push(opened.value.store);
      return opened.value.store;
    }
    async function close() {
      for (const ledger of ledgers) await ledger.close();
    }
  };
  const checks = [...ledgerContract(open), ...settingsContract(open), ...upkeepContract(open)];
  for (const { title, run } of checks) test(title, run);
});

describe('the PostgreSQL store finds what was changed in its tables by hand', () => {
  const checks = verifyContract(async () => {
    const { store: ledger } = await fresh();
    const schema = `test_${schemas}`;
    const tamper = async (sql: string) => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(`SET search_path TO ${schema}`);
      await client.query(sql);
      await client.end();
    };
    return { subject: { ledger, tamper }, close: () => ledger.close() };
  });
  for (const { title, run } of checks) test(title, run);
});

describe('blobs in PostgreSQL keep what every blob store promises', () => {
  const checks = blobContract(async () => {
    const { store, blobs } = await fresh();
    return { subject: blobs, close: () => store.close() };
  });
  for (const { title, run } of checks) test(title, run);
});

describe('a commit whose answer is lost', () => {
  /** The connection breaks once, at this place. */
  function breakAt(point: string): () => void {
    let left = 1;
    return armFailpoints((name) => {
      if (name !== point || left-- !== 1) return;
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    });
  }

  test.each(['store.before_commit', 'store.after_commit'])(
    'at %s is done once, whether it happened or not',
    async (point) => {
      const { store } = await fresh();
      const call = requestedCall({ key: 'k1' });
      for (const write of [
        () => store.submit(call),
        () => store.move(...started(call)),
        () => store.move(...finished(call)),
      ]) {
        const disarm = breakAt(point);
        const answer = await write();
        disarm();
        expect(answer).not.toBe(null);
      }
      expect((await store.events('s1')).map(({ seq, type }) => [seq, type])).toEqual([
        [1, 'call.requested'],
        [2, 'call.started'],
        [3, 'call.finished'],
      ]);
      expect(await store.call(call.id)).toMatchObject({ state: 'succeeded', attempt: 1 });
      expect((await store.verify()).problems).toEqual([]);
      await store.close();
    },
  );
});

test('a node that is silent for too long is given up, and its late word is refused', async () => {
  const schema = `test_${++schemas}`;
  const opened = await Promise.all([1, 2].map(() => openPostgresStore(server.url, { schema, leaseMs: 500 })));
  const [silent, other] = opened.map((one) => {
    if (!one.ok) throw new Error(one.error.message);
    return one.value.store;
  }) as [Ledger, Ledger];
  const call = requestedCall();
  await silent.submit(call);
  await silent.move(...started(call));
  expect(await other.recover()).toEqual([]);

  const client = new pg.Client(server.url);
  await client.connect();
  // As if it were paused: it does not renew, and others may look only when the server has run for a while itself.
  const events = await until(async () => {
    await client.query(`UPDATE ${schema}.nodes SET lease_until = 1 WHERE id = $1`, [silent.node.id]);
    return other.recover();
  });
  await client.end();
  expect(events.map(({ type }) => type)).toEqual(['call.finished']);
  expect(await silent.move(...finished(call))).toBe(null);
  expect((await other.call(call.id))?.state).toBe('interrupted');
  await silent.close();
  await other.close();
});

describe('a node that was given up and comes back', () => {
  /** Two nodes, and what makes the first one look silent at this moment. */
  async function pair(leaseMs = 60_000) {
    const schema = `test_${++schemas}`;
    const opened = await Promise.all([1, 2].map(() => openPostgresStore(server.url, { schema, leaseMs })));
    const [late, other] = opened.map((one) => {
      if (!one.ok) throw new Error(one.error.message);
      return one.value.store;
    }) as [Ledger, Ledger];
    const client = new pg.Client(server.url);
    await client.connect();
    const silence = () => client.query(`UPDATE ${schema}.nodes SET lease_until = 0 WHERE id = $1`, [late.node.id]);
    const close = async () => {
      await client.end();
      await late.close();
      await other.close();
    };
    return { late, other, client, schema, silence, close };
  }

  test('goes on under a new epoch, and its word about what it did before is refused', async () => {
    const { late, other, silence, close } = await pair();
    const [waiting, running] = [requestedCall({ effect: 'pure' }), requestedCall({ effect: 'pure' })];
    await late.submit(waiting);
    await late.submit(running);
    await late.move(...started(running));
    const before = late.node;
    await silence();
    expect((await other.recover()).map(({ type }) => type)).toEqual(['call.requeued', 'call.requeued']);
    // Somebody else takes both over, so their states are those the late one knows them in.
    for (const { id, tool } of [waiting, running]) {
      const data = { tool, attempt: 0 };
      const taken = { type: 'call.resumed', callId: id, at: 1, data } as const;
      expect(await other.move(id, { from: ['queued'], to: 'requested' }, taken)).not.toBe(null);
    }
    await other.move(...started(running));

    expect(await late.move(...started(waiting))).toBe(null);
    expect(await late.move(...finished(running))).toBe(null);
    expect(late.node).toEqual({ id: before.id, epoch: before.epoch + 1 });
    const next = requestedCall();
    expect((await late.submit(next)).call.node).toEqual(late.node);
    expect(await other.recover()).toEqual([]);
    expect(await late.move(...started(next))).not.toBe(null);
    expect(await late.move(...finished(next))).not.toBe(null);
    expect(await other.move(...finished(running))).not.toBe(null);
    expect((await other.verify()).problems).toEqual([]);
    await close();
  });

  test('may take its own call over, and its word from before is refused then too', async () => {
    const { late, other, silence, close } = await pair();
    const call = requestedCall({ effect: 'pure' });
    await late.submit(call);
    await late.move(...started(call));
    const { epoch } = late.node;
    await silence();
    expect((await other.recover()).map(({ type }) => type)).toEqual(['call.requeued']);
    const data = { tool: call.tool, attempt: 1 };
    const taken = { type: 'call.resumed', callId: call.id, at: 1, data } as const;
    expect(await late.move(call.id, { from: ['queued'], to: 'requested' }, taken)).not.toBe(null);
    await late.move(...started(call));
    const [id, move, event] = finished(call);
    expect(await late.move(id, { ...move, epoch }, event)).toBe(null);
    expect(await late.move(id, { ...move, epoch: late.node.epoch }, event)).not.toBe(null);
    expect(await other.call(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    await close();
  });

  test('does not hear of a call that another has under the same epoch', async () => {
    const { late, other, silence, close } = await pair();
    const call = requestedCall({ effect: 'pure' });
    await late.submit(call);
    const { epoch } = late.node;
    await silence();
    await other.recover();
    const data = { tool: call.tool, attempt: 0 };
    const taken = { type: 'call.resumed', callId: call.id, at: 1, data } as const;
    await other.move(call.id, { from: ['queued'], to: 'requested' }, taken);
    await other.move(...asked(call, 'a1'));
    expect(other.node.epoch).toBe(epoch);
    const [id, move, event] = finished(call, { state: 'cancelled' });
    expect(await late.move(id, { ...move, from: ['awaiting_approval'], epoch }, event)).toBe(null);
    expect((await other.approvals({})).map(({ state }) => state)).toEqual(['pending']);
    await close();
  });

  test('goes on as another life when it was forgotten meanwhile', async () => {
    const { late, client, schema, close } = await pair();
    const { id, epoch } = late.node;
    await client.query(`DELETE FROM ${schema}.nodes WHERE id = $1`, [id]);
    const call = requestedCall();
    await late.submit(call);
    expect(late.node).toEqual({ id, epoch: epoch + 1 });
    expect((await late.call(call.id))?.node).toEqual(late.node);
    expect(await late.move(...finished(call, { state: 'cancelled' }))).not.toBe(null);
    await close();
  });

  test('is alive again as soon as it writes, and keeps its calls if nobody took them', async () => {
    const { late, other, silence, close } = await pair();
    const call = requestedCall();
    await late.submit(call);
    await silence();
    await late.move(...started(call));
    expect(await other.recover()).toEqual([]);
    expect(await late.move(...finished(call))).not.toBe(null);
    await close();
  });

  test('is told, so that what it runs can stop', async () => {
    const { late, other, client, schema, close } = await pair(500);
    let told = 0;
    late.onGivenUp?.(() => told++);
    await late.submit(requestedCall());
    await until(async () => {
      await client.query(`UPDATE ${schema}.nodes SET lease_until = 0 WHERE id = $1`, [late.node.id]);
      return other.recover();
    });
    await until(async () => Array(told).fill(0));
    expect(told).toBe(1);
    expect(late.node.epoch).toBe(2);
    await close();
  });
});

async function until<T>(look: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await look();
    if (found.length > 0) return found;
    await delay(20);
  }
  return [];
}

test('a node whose row was forgotten gets it back with its next write, which is really there', async () => {
  const schema = `test_${++schemas}`;
  const opened = await openPostgresStore(server.url, { schema });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(`DELETE FROM ${schema}.nodes`);
  const call = requestedCall();
  await store.submit(call);
  expect((await client.query(`SELECT id FROM ${schema}.nodes`)).rows).toEqual([{ id: store.node.id }]);

  // The connection breaks before the commit, and when it is back the row is gone: nothing may be claimed.
  let forgotten: Promise<unknown> | undefined;
  const disarm = armFailpoints((name) => {
    if (name !== 'store.before_commit' || forgotten !== undefined) return;
    forgotten = client.query(`DELETE FROM ${schema}.nodes`);
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
  });
  const moved = await Promise.resolve(store.move(...started(call))).then(
    () => 'acknowledged',
    () => 'refused',
  );
  disarm();
  await forgotten;
  const kept = (await store.events('s1')).length === 2;
  expect(moved === 'acknowledged').toBe(kept);
  await client.end();
  await store.close();
});

test('every connection asks for durable commits, whatever the server says later', async () => {
  const connections = new Connections(`${server.url}?options=-csynchronous_commit%3Doff`, 'public', 1000);
  const client = await connections.connect();
  expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
  await client.end();
  await connections.close();
});

test('a write that cannot be placed in the log fails alone', async () => {
  const { store } = await fresh();
  const calls = [requestedCall(), requestedCall({ requestedAt: Number.NaN }), requestedCall()];
  const settled = await Promise.allSettled(calls.map((call) => store.submit(call)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await store.events('s1')).map(({ callId }) => callId)).toEqual([calls[0]?.id, calls[2]?.id]);
  expect((await store.verify()).problems).toEqual([]);
  await store.close();
});

describe('the schema', () => {
  test('is made once by many who start at the same time', async () => {
    const schema = `test_${++schemas}`;
    const all = await Promise.all(Array.from({ length: 4 }, () => openPostgresStore(server.url, { schema })));
    expect(all.map((opened) => opened.ok)).toEqual([true, true, true, true]);
    await Promise.all(all.map((opened) => opened.ok && opened.value.store.close()));
  });

  test('of a newer version is refused', async () => {
    const schema = `test_${++schemas}`;
    const opened = await openPostgresStore(server.url, { schema });
    if (opened.ok) await opened.value.store.close();
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`UPDATE ${schema}.schema_version SET version = 999`);
    await client.end();
    const refused = await openPostgresStore(server.url, { schema });
    expect(refused).toMatchObject({ ok: false, error: { details: { trouble: 'newer' } } });
    expect(!refused.ok && refused.error.message).toContain('Update Toolwright');
  });
});

describe('a server that must not be used', () => {
  test.each(['synchronous_commit', 'fsync'])('is refused when %s is off', async (setting) => {
    const unsafe = await startPostgres({ [setting]: 'off' });
    const opened = await openPostgresStore(unsafe.url);
    await unsafe.stop();
    expect(opened).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED', details: { trouble: 'unsafe' } } });
    expect(!opened.ok && opened.error.message).toContain(`${setting}=off`);
  });

  test('is named when it does not answer', async () => {
    const opened = await openPostgresStore('postgres://nobody@127.0.0.1:1/none');
    expect(opened).toMatchObject({ ok: false, error: { details: { trouble: 'unreachable' } } });
  });
});
