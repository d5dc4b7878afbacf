import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { finished, requestedCall } from '../../testing/sample-calls.ts';
import { openDatabase } from './driver.ts';
import { openSqliteStore } from './open.ts';

const NOBODY = 65_534;

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-'));
  path = join(folder, 'state.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function opened() {
  const result = await openSqliteStore(folder);
  if (!result.ok) throw new Error(result.error.message);
  return result.value.store;
}

/** A store of a few hundred events, closed again. */
async function written(): Promise<void> {
  const store = await opened();
  const calls = Array.from({ length: 100 }, () => requestedCall({ args: { content: 'x'.repeat(1000) } }));
  await Promise.all(calls.map((call) => store.submit(call)));
  await Promise.all(calls.map((call) => store.move(...finished(call))));
  await store.close();
}

async function refusal(): Promise<{ trouble: unknown; message: string }> {
  const before = readFileSync(path);
  const result = await openSqliteStore(folder);
  if (result.ok) throw new Error('it was opened');
  expect(readFileSync(path).equals(before), 'the file is as it was').toBe(true);
  expect(result.error.code).toBe('NOT_CONFIGURED');
  return { trouble: result.error.details?.trouble, message: result.error.message };
}

describe('what is opened', () => {
  test('only its owner can read the state', async () => {
    const store = await opened();
    await store.submit(requestedCall({ args: { content: 'x'.repeat(40_000) } }));
    for (const name of ['', 'blobs', 'nodes']) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o700);
    for (const name of ['state.db', 'state.db-wal', 'state.db-shm', 'nodes/n0.lock']) {
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
    await store.close();
  });

  test('what was open to others is closed to them', async () => {
    await written();
    chmodSync(folder, 0o777);
    for (const name of ['state.db', 'blobs', 'nodes']) chmodSync(join(folder, name), 0o755);
    const store = await opened();
    for (const name of ['', 'blobs', 'nodes']) expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o700);
    for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) {
      expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
    }
    await store.close();
  });

  test('a store that was closed says so', async () => {
    const store = await opened();
    await store.close();
    const closed = expect.objectContaining({ name: 'StoreError', message: expect.stringContaining('closed') });
    await expect(store.submit(requestedCall())).rejects.toEqual(closed);
    await expect((async () => store.calls({}))()).rejects.toEqual(closed);
  });

  test('an empty file becomes a store', async () => {
    writeFileSync(path, '');
    await (await opened()).close();
  });

  test('the same process may open it twice', async () => {
    const [one, two] = [await opened(), await opened()];
    expect(one.node.id).not.toBe(two.node.id);
    await one.close();
    const three = await opened();
    expect(three.node).toEqual({ id: one.node.id, epoch: one.node.epoch + 1 });
    await two.submit(requestedCall());
    expect((await three.events('s1')).length).toBe(1);
    await two.close();
    await three.close();
  });
});

test('a second way to the same directory is the same store', async () => {
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  const store = await opened();
  const again = await openSqliteStore(link);
  rmSync(link);
  if (!again.ok) throw new Error(again.error.message);
  expect(again.value.store.node.id).not.toBe(store.node.id);
  await again.value.store.submit(requestedCall());
  expect((await store.events('s1')).length).toBe(1);
  await again.value.store.close();
  await store.close();
});

describe('what is refused, and left as it is', () => {
  test('a file that is no database', async () => {
    writeFileSync(path, 'This is a letter to a friend. '.repeat(100));
    expect(await refusal()).toMatchObject({ trouble: 'foreign', message: expect.stringContaining(path) });
  });

  test("another program's database", async () => {
    const db = openDatabase(path);
    db.exec('CREATE TABLE recipes (name TEXT)');
    db.close();
    expect(await refusal()).toMatchObject({ trouble: 'foreign' });
  });

  test('a store that a newer version wrote', async () => {
    await written();
    const db = openDatabase(path);
    db.exec('PRAGMA user_version = 999');
    db.close();
    expect(await refusal()).toMatchObject({ trouble: 'newer', message: expect.stringContaining('Update Toolwright') });
  });

  test("another program's database whose tables are still in its log", async () => {
    const db = openDatabase(path);
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE recipes (name TEXT)');
    expect(await refusal()).toMatchObject({ trouble: 'foreign' });
    expect(db.prepare('SELECT name FROM sqlite_master').all()).toEqual([{ name: 'recipes' }]);
    db.close();
  });

  test('a store that was emptied, or is gone while the rest of it is left', async () => {
    await written();
    truncateSync(path, 0);
    expect(await refusal()).toMatchObject({ trouble: 'damaged', message: expect.stringContaining('nodes') });
    rmSync(path);
    const result = await openSqliteStore(folder);
    expect(result).toMatchObject({ ok: false, error: { details: { trouble: 'damaged' } } });
    rmSync(join(folder, 'nodes'), { recursive: true });
    writeFileSync(`${path}-wal`, 'x'.repeat(100));
    expect(await openSqliteStore(folder)).toMatchObject({ ok: false, error: { details: { trouble: 'damaged' } } });
    expect(existsSync(path)).toBe(false);
  });

  test('a directory that everybody shares', async () => {
    chmodSync(folder, 0o1777);
    const result = await openSqliteStore(folder);
    expect(result).toMatchObject({ ok: false, error: { details: { trouble: 'unsafe' } } });
    expect(!result.ok && result.error.message).toContain('shared by all users');
    expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  });

  test('a directory of somebody else that is open to others', async () => {
    // Only root can give a folder away; anybody else finds one that is not theirs.
    const asRoot = process.getuid?.() === 0;
    const theirs = asRoot ? folder : '/usr';
    if (asRoot) {
      chownSync(folder, NOBODY, NOBODY);
      chmodSync(folder, 0o755);
    }
    const result = await openSqliteStore(theirs);
    expect(result).toMatchObject({ ok: false, error: { details: { trouble: 'unsafe' } } });
    expect(!result.ok && result.error.message).toContain('belongs to another user');
    expect(existsSync(join(theirs, 'state.db'))).toBe(false);
  });

  test('a directory that may not be written to, which is no damage', async () => {
    await written();
    const asRoot = process.getuid?.() === 0;
    if (asRoot) for (const name of ['', 'state.db', 'blobs', 'nodes']) chownSync(join(folder, name), NOBODY, NOBODY);
    chmodSync(folder, 0o500);
    if (asRoot) process.seteuid?.(NOBODY);
    const result = await openSqliteStore(folder);
    if (asRoot) process.seteuid?.(0);
    chmodSync(folder, 0o700);
    expect(result).toMatchObject({ ok: false, error: { details: { trouble: 'failed' } } });
    expect(!result.ok && result.error.message).toContain('permissions of the state directory');
  });

  test.each([50, 300, 600, 4096, 20_000, 60_000])('a store cut off after %i bytes', async (length) => {
    await written();
    truncateSync(path, length);
    expect(await refusal()).toMatchObject({ trouble: 'damaged' });
  });

  test.each([1, 2, 5])('a store with page %i overwritten', async (page) => {
    await written();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, page === 1 ? 100 : (page - 1) * 4096, page * 4096);
    writeFileSync(path, bytes);
    expect(await refusal()).toMatchObject({ trouble: 'damaged' });
  });

  test('a damaged copy says so, and the original still works', async () => {
    await written();
    copyFileSync(path, join(folder, 'backup.db'));
    truncateSync(path, 8192);
    expect(await refusal()).toMatchObject({ message: expect.stringContaining('backup') });
    copyFileSync(join(folder, 'backup.db'), path);
    const store = await opened();
    expect((await store.verify()).problems).toEqual([]);
    await store.close();
  });
});
