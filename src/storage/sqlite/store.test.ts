import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { blobContract } from '../../testing/blob-contract.ts';
import { ledgerContract, type OpenShared } from '../../testing/ledger/ledger-contract.ts';
import { settingsContract } from '../../testing/ledger/settings-contract.ts';
import { upkeepContract } from '../../testing/ledger/upkeep-contract.ts';
import { verifyContract } from '../../testing/ledger/verify-contract.ts';
import { storeContract } from '../../testing/store-contract.ts';
import { openDatabase } from './driver.ts';
import { openSqliteStore } from './open.ts';

async function fresh() {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store, blobs } = opened.value;
  return {
    store,
    blobs,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe('the SQLite store keeps what every store promises', () => {
  const checks = storeContract(async () => {
    const { store, close } = await fresh();
    return { subject: store, close };
  });
  for (const { title, run } of checks) test(title, run);
});

describe('the SQLite store keeps what a shared store promises', () => {
  const open: OpenShared = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const ledgers: Ledger[] = [];
    return { subject: { ledger: await another(), another }, close };

    async function another() {
      const opened = await openSqliteStore(folder);
      if (!opened.ok) throw new Error(opened.error.message);
      ledgers.push(opened.value.store);
      return opened.value.store;
    }
    async function close() {
      for (const ledger of ledgers) await ledger.close();
      rmSync(folder, { recursive: true });
    }
  };
  const checks = [...ledgerContract(open), ...settingsContract(open), ...upkeepContract(open)];
  for (const { title, run } of checks) test(title, run);
});

describe('blobs in files keep what every blob store promises', () => {
  const checks = blobContract(async () => {
    const { blobs, close } = await fresh();
    return { subject: blobs, close };
  });
  for (const { title, run } of checks) test(title, run);
});

describe('the SQLite store finds what was changed in its tables by hand', () => {
  const checks = verifyContract(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'store-'));
    const opened = await openSqliteStore(folder);
    if (!opened.ok) throw new Error(opened.error.message);
    const { store: ledger } = opened.value;
    const tamper = (sql: string) => {
      const db = openDatabase(join(folder, 'state.db'));
      db.exec(sql);
      db.close();
    };
    async function close() {
      await ledger.close();
      rmSync(folder, { recursive: true });
    }
    return { subject: { ledger, tamper }, close };
  });
  for (const { title, run } of checks) test(title, run);
});
