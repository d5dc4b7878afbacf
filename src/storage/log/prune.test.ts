import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import { finished, requestedCall } from '../../testing/sample-calls.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { openSqliteStore } from '../sqlite/open.ts';

let folder: string;
let store: Ledger;
let blobs: BlobStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'prune-'));
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  ({ store, blobs } = opened.value);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

test('somebody who reads meanwhile does not make pruning by size forget everything', async () => {
  const calls = Array.from({ length: 300 }, () => requestedCall({ args: { content: 'x'.repeat(4000) } }));
  await Promise.all(calls.map((call) => store.submit(call)));
  await Promise.all(calls.map((call) => store.move(...finished(call))));
  const { bytes: before } = await store.prune({ maxBytes: Number.MAX_SAFE_INTEGER });
  const reader = openDatabase(join(folder, 'state.db'), { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM events').get();
  const { bytes } = await store.prune({ maxBytes: Math.round(before * 0.8) });
  reader.close();
  expect(bytes).toBeLessThanOrEqual(before * 0.8);
  expect((await store.calls({ limit: 1000 })).items.length).toBeGreaterThan(150);
});

test('blobs that pruning releases go at once, unless the same bytes were put again just now', async () => {
  const [old, again] = [
    requestedCall({ args: { content: 'o'.repeat(80_000) } }),
    requestedCall({ args: { content: 'a'.repeat(80_000) } }),
  ];
  for (const call of [old, again]) {
    await store.submit(call);
    await store.move(...finished(call));
  }
  const twoHoursAgo = Date.now() / 1000 - 2 * 60 * 60;
  for (const path of blobFiles()) utimesSync(path, twoHoursAgo, twoHoursAgo);
  const wanted = await blobs.put(Buffer.from(JSON.stringify(again.args)));
  const { calls, blobs: gone } = await store.prune({ maxBytes: 1 });
  expect(calls).toBe(2);
  expect(gone).toBeGreaterThan(0);
  expect(blobFiles().map((path) => basename(path))).toEqual([wanted]);
});

function blobFiles(): string[] {
  return readdirSync(join(folder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

test('a sweep leaves what is not its own, and may run twice at once', async () => {
  writeFileSync(join(folder, 'blobs', '.DS_Store'), 'x');
  mkdirSync(join(folder, 'blobs', 'ab'), { recursive: true });
  const notes = join(folder, 'blobs', 'ab', 'notes.txt');
  writeFileSync(notes, 'x');
  utimesSync(notes, 1, 1);
  for (let index = 0; index < 50; index++) {
    const handle = await blobs.put(Buffer.from(`blob ${index}`));
    utimesSync(join(folder, 'blobs', handle.slice(0, 2), handle), 1, 1);
  }
  const both = await Promise.all([store.prune({ before: 1 }), store.prune({ before: 1 })]);
  expect(both[0].blobs + both[1].blobs).toBe(50);
  expect(existsSync(notes)).toBe(true);
});
