import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import { FileBlobs } from './file-blobs.ts';

let folder: string;
let blobs: FileBlobs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'blobs-'));
  blobs = new FileBlobs(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileOf = (handle: string) => join(folder, handle.slice(0, 2), handle);

test('a blob whose bytes changed is not handed out, and putting it again mends it', async () => {
  const handle = await blobs.put(Buffer.from('hello'));
  writeFileSync(fileOf(handle), 'jello');
  expect(await blobs.get(handle)).toMatchObject({
    ok: false,
    error: { code: 'FILE_NOT_FOUND', details: { damaged: true } },
  });
  await blobs.put(Buffer.from('hello'));
  expect(await blobs.get(handle)).toMatchObject({ ok: true });
});

test('a sweep removes what is old and not used, and what a crash left half written', async () => {
  const [used, unused, young] = await Promise.all(['a', 'b', 'c'].map((text) => blobs.put(Buffer.from(text))));
  const half = join(folder, String(unused).slice(0, 2), '.new-left-behind');
  writeFileSync(half, 'x');
  const long = new Date(Date.now() - 10_000);
  for (const path of [fileOf(String(used)), fileOf(String(unused)), half]) utimesSync(path, long, long);
  expect(await blobs.sweep(new Set([String(used)]), Date.now() - 5000)).toBe(1);
  expect([used, unused, young].map((handle) => existsSync(fileOf(String(handle))))).toEqual([true, false, true]);
  expect(existsSync(half)).toBe(false);
});

test('a blob that is put again is young again', async () => {
  const handle = await blobs.put(Buffer.from('a'));
  const long = new Date(Date.now() - 10_000);
  utimesSync(fileOf(handle), long, long);
  await blobs.put(Buffer.from('a'));
  expect(await blobs.sweep(new Set(), Date.now() - 5000)).toBe(0);
});

test('many puts of the same bytes at once leave one file', async () => {
  await Promise.all(Array.from({ length: 20 }, () => blobs.put(Buffer.from('same'))));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBe(1);
});

test('every new folder is synced into the one above it before a blob in it is said to be kept', async () => {
  const passed: string[] = [];
  const disarm = armFailpoints((name) => passed.push(name));
  const fresh = new FileBlobs(join(folder, 'state', 'blobs'));
  expect(passed).toEqual(['folder.after_sync', 'folder.after_sync']);
  await fresh.put(Buffer.from('a'));
  await fresh.put(Buffer.from('a'));
  // Another process may have made the folders and not have come to their sync.
  await new FileBlobs(join(folder, 'state', 'blobs')).put(Buffer.from('a'));
  disarm();
  expect(passed.slice(2)).toEqual([
    'folder.after_sync',
    'blob.before_rename',
    'blob.after_rename',
    'folder.after_sync',
    'folder.after_sync',
  ]);
});
