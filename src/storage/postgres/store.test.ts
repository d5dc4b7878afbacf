import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../test/postgres-server.ts';
import type { Ledger } from '../../kernel/ledger.ts';
import { blobContract } from '../../testing/blob-contract.ts';
import { ledgerContract } from '../../testing/ledger-contract.ts';
import { storeContract } from '../../testing/store-contract.ts';
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
  const checks = ledgerContract(async () => {
    const schema = `test_${++schemas}`;
    const ledgers: Ledger[] = [];
    return { subject: { ledger: await another(), another }, close };

    async function another() {
      // A short lease: right after its start, the server gives everybody the time of one before anybody is gone.
      const opened = await openPostgresStore(server.url, { schema, leaseMs: 500 });
      if (!opened.ok) throw new Error(opened.error.message);
      ledgers.push(opened.value.store);
      return opened.value.store;
    }
    async function close() {
      for (const ledger of ledgers) await ledger.close();
    }
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
