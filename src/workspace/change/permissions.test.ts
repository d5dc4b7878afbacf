import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Folder } from '../../host/folder.ts';
import { createToolwright } from '../../runtime/create-toolwright.ts';
import { asOrdinaryUser, tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { openWorkspace } from '../open-workspace.ts';
import { moveName } from './move-name.ts';

test('a deleted folder with a read-only one in it is forgotten like any other', async () => {
  await using ws = await tempWorkspace({ files: { 'd/sub/x.txt': 'X' } });
  chmodSync(ws.file('d/sub'), 0o555);
  await asOrdinaryUser([ws.top], async () => {
    expect((await ws.call('delete_file', { path: 'd', recursive: true })).ok).toBe(true);
    (await openWorkspace({ root: ws.root, journal: { folder: ws.journal, maxBytes: 1 } })).close();
  });
  expect(readdirSync(`${ws.journal}/images`)).toEqual([]);
});

test('a folder with a read-only one in it is deleted whole, and comes back from a journal on another file system', async () => {
  await using ws = await tempWorkspace({
    files: { 'd/sub/x.txt': 'X', 'e/sub/x.txt': 'X' },
    journal: false,
    parent: '/dev/shm',
  });
  const folder = mkdtempSync('/tmp/journal-');
  for (const path of ['d/sub', 'e/sub']) chmodSync(ws.file(path), 0o555);
  await asOrdinaryUser([ws.top, folder], async () => {
    expect((await ws.call('delete_file', { path: 'd', recursive: true })).ok).toBe(true);
    const world = await openWorkspace({ root: ws.root, journal: { folder } });
    const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
    const deleted = await call('delete_file', { path: 'e', recursive: true });
    expect([deleted.ok, readdirSync(ws.root)]).toEqual([true, []]);
    expect(await world.undo(deleted.callId as string)).toMatchObject({ ok: true });
    world.close();
  });
  expect(readdirSync(ws.root)).toEqual(['e']);
  expect(readFileSync(ws.file('e/sub/x.txt'), 'utf8')).toBe('X');
  expect(statSync(ws.file('e/sub')).mode & 0o777).toBe(0o555);
  expect(readdirSync(`${folder}/images`)).toEqual([]);
  chmodSync(ws.file('e/sub'), 0o755);
  rmSync(folder, { recursive: true });
});

test('a file that cannot be taken out of its folder gets no second name', async () => {
  await using ws = await tempWorkspace({ files: { 'ro/a.txt': 'A' } });
  chmodSync(ws.file('ro'), 0o555);
  await asOrdinaryUser([ws.top], async () => {
    const moved = await ws.call('move_file', { from: 'ro/a.txt', to: 'b.txt' });
    expect(moved.error?.code).toBe('PERMISSION_DENIED');
  });
  expect(existsSync(ws.file('b.txt'))).toBe(false);
  expect(statSync(ws.file('ro/a.txt')).nlink).toBe(1);
  chmodSync(ws.file('ro'), 0o755);
});

test('what cannot be taken out of its folder gets no copy on another file system', async () => {
  const [here, there] = [mkdtempSync('/dev/shm/move-'), mkdtempSync('/tmp/move-')];
  mkdirSync(`${here}/d`);
  for (const path of ['d/x.txt', 'a.txt']) writeFileSync(`${here}/${path}`, 'X');
  chmodSync(here, 0o555);
  await asOrdinaryUser([here, there], async () => {
    const [from, to] = [Folder.open(here), Folder.open(there)];
    for (const name of ['d', 'a.txt']) {
      expect(() => moveName(from, name, to, { name, temp: 'temp', replace: false }), name).toThrow('EACCES');
    }
    for (const each of [from, to]) each.dispose();
  });
  expect(readdirSync(there)).toEqual([]);
  expect(readdirSync(here, { recursive: true }).sort()).toEqual(['a.txt', 'd', 'd/x.txt']);
  chmodSync(here, 0o755);
  for (const each of [here, there]) rmSync(each, { recursive: true });
});

test('what is changed in a folder that may be written to and not read is told as done, and can be undone', async () => {
  await using ws = await tempWorkspace({ files: { 'drop/old.txt': 'old' } });
  chmodSync(ws.file('drop'), 0o333);
  await asOrdinaryUser([ws.top], async () => {
    for (const [tool, args] of [
      ['write_file', { path: 'drop/new.txt', content: 'x' }],
      ['write_file', { path: 'drop/old.txt', content: 'x' }],
      ['delete_file', { path: 'drop/old.txt' }],
      ['move_file', { from: 'drop/old.txt', to: 'drop/other.txt' }],
    ] as const) {
      const done = await ws.call(tool, args);
      expect(done.error, tool).toBeNull();
      expect(await ws.workspace.undo(done.callId as string), tool).toMatchObject({ ok: true });
    }
  });
  chmodSync(ws.file('drop'), 0o755);
  expect(readdirSync(ws.file('drop'))).toEqual(['old.txt']);
  expect(readFileSync(ws.file('drop/old.txt'), 'utf8')).toBe('old');
});

/** Root gives files to somebody else; others can only have them as their own. */
const OWNER = process.getuid?.() === 0 ? [1000, 1001] : [process.getuid?.(), process.getgid?.()];

function give(...paths: readonly string[]): void {
  execFileSync('chown', ['-R', '--no-dereference', OWNER.join(':'), ...paths]);
}

function ownersOf(...paths: readonly string[]): (number | undefined)[][] {
  return paths.map((path) => [lstatSync(path).uid, lstatSync(path).gid]);
}

test.each([
  ['on this file system', undefined],
  ['on another file system', '/dev/shm'],
])('what is undone has its old owner and mode again, with a journal %s', async (_where, parent) => {
  await using ws = await tempWorkspace({
    files: { 'a.txt': 'A', 'b.txt': 'B', 'd/sub/x.txt': 'X' },
    journal: false,
    ...(parent !== undefined && { parent }),
  });
  const folder = mkdtempSync('/tmp/journal-');
  symlinkSync('b.txt', ws.file('link'));
  symlinkSync('x.txt', ws.file('d/sub/link'));
  const paths = readdirSync(ws.root, { recursive: true, encoding: 'utf8' }).map(ws.file);
  give(ws.root);
  chmodSync(ws.file('a.txt'), 0o6755);
  chmodSync(ws.file('d/sub/x.txt'), 0o4711);
  const world = await openWorkspace({ root: ws.root, journal: { folder } });
  const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
  for (const [tool, args] of [
    ['write_file', { path: 'a.txt', content: 'x' }],
    ['move_file', { from: 'b.txt', to: 'a.txt', overwrite: true }],
    ['move_file', { from: 'b.txt', to: 'link', overwrite: true }],
    ['delete_file', { path: 'd', recursive: true }],
  ] as const) {
    const done = await call(tool, args);
    expect(await world.undo(done.callId as string), tool).toMatchObject({ ok: true });
    expect(ownersOf(...paths), tool).toEqual(paths.map(() => OWNER));
    expect(statSync(ws.file('a.txt')).mode & 0o7777, tool).toBe(0o6755);
  }
  expect(statSync(ws.file('d/sub/x.txt')).mode & 0o7777).toBe(0o4711);
  world.close();
  rmSync(folder, { recursive: true });
});

test('an undo from a journal that knows no owners restores the rest, and nothing that runs with the rights of another', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old' } });
  give(ws.file('a.txt'));
  chmodSync(ws.file('a.txt'), 0o4751);
  const written = await ws.call('write_file', { path: 'a.txt', content: 'new' });
  for (const name of readdirSync(join(ws.journal, 'logs'))) {
    const log = join(ws.journal, 'logs', name);
    writeFileSync(log, readFileSync(log, 'utf8').replace(/,"uid":\d+,"gid":\d+/, ''));
    expect(readFileSync(log, 'utf8')).not.toContain('uid');
  }
  expect(await ws.workspace.undo(written.callId as string)).toMatchObject({ ok: true });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('old');
  expect(statSync(ws.file('a.txt')).mode & 0o7777).toBe(0o751);
});

test('a file in a folder that gives its group to new ones keeps its own', async () => {
  await using ws = await tempWorkspace({ files: { 'd/a.txt': 'old' } });
  give(ws.file('d'));
  execFileSync('chown', [`${process.getuid?.()}:${process.getgid?.()}`, ws.file('d/a.txt')]);
  chmodSync(ws.file('d'), 0o2775);
  await ws.call('write_file', { path: 'd/a.txt', content: 'new' });
  expect(readFileSync(ws.file('d/a.txt'), 'utf8')).toBe('new');
  expect(ownersOf(ws.file('d/a.txt'))).toEqual([[process.getuid?.(), process.getgid?.()]]);
});
