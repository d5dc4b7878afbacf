import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

test('[E01] lists names, types, sizes and ISO times; hidden names and what is below on request', async () => {
  await using ws = await tempWorkspace({ files: { 'b.txt': 'four', 'a/c.txt': '', 'a/d/e.txt': 'x', '.hid/f': '' } });
  symlinkSync('a', ws.file('link'));
  const flat = await ws.call('list_directory', { path: '.' });
  const { entries } = flat.value as { entries: { name: string; type: string; size: number; modified: string }[] };
  expect(entries.map(({ name, type }) => [name, type])).toEqual([
    ['a', 'directory'],
    ['b.txt', 'file'],
    ['link', 'symlink'],
  ]);
  expect(entries[1]).toMatchObject({ size: 4, modified: expect.stringMatching(/^\d{4}-.*Z$/) });
  const below = await ws.call('list_directory', { path: 'a', recursive: true });
  expect((below.value as { entries: { name: string }[] }).entries.map(({ name }) => name)).toEqual([
    'c.txt',
    'd',
    'd/e.txt',
  ]);
  expect((await ws.call('list_directory', { path: '.', includeHidden: true })).text).toContain('.hid/');
  expect((await ws.call('list_directory', { path: 'b.txt' })).error).toMatchObject({ code: 'INVALID_PATH' });
  const cut = await ws.call('list_directory', { path: '.', recursive: true, limit: 2 });
  expect(cut.value).toMatchObject({ complete: false });
});

test('[E01] a link that leads out is not listed through', async () => {
  await using ws = await tempWorkspace();
  writeFileSync(`${ws.outside}/CANARY`, '');
  symlinkSync(ws.outside, ws.file('link'));
  const refused = await ws.call('list_directory', { path: 'link' });
  expect(refused.error).toMatchObject({ code: 'INVALID_PATH' });
  expect((await ws.call('list_directory', { path: '.', recursive: true })).text).not.toContain('CANARY');
});

test('[E05] deleting always asks, answers with what went, and can be undone', async () => {
  await using ws = await tempWorkspace({ files: { 'd/a.txt': 'A', 'd/e/b.txt': 'B', 'f.txt': 'F' } });
  symlinkSync(ws.outside, ws.file('d/ext'));
  writeFileSync(`${ws.outside}/keep`, 'keep');
  const file = await ws.call('delete_file', { path: 'f.txt' });
  expect(file.value).toMatchObject({ deleted: ['f.txt'], undoable: true });
  const full = await ws.call('delete_file', { path: 'd' });
  expect(full.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('recursive') });
  const folder = await ws.call('delete_file', { path: 'd', recursive: true });
  expect(folder.value).toMatchObject({ deleted: ['d', 'd/a.txt', 'd/e', 'd/e/b.txt', 'd/ext'] });
  expect(readdirSync(ws.root)).toEqual([]);
  expect(readFileSync(`${ws.outside}/keep`, 'utf8')).toBe('keep');
  expect(ws.asked).toEqual(['It deletes f.txt.', 'It deletes d with 4 entries.']);
  expect((await ws.workspace.undo(folder.callId as string)).ok).toBe(true);
  expect(readFileSync(ws.file('d/e/b.txt'), 'utf8')).toBe('B');
  expect(lstatSync(ws.file('d/ext')).isSymbolicLink()).toBe(true);
});

test('[E05] the workspace itself, a missing path and a folder with a secret in it are refused', async () => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok', 'd/.env': 'K=1' } });
  for (const path of ['.', `${ws.root}/`, './']) {
    expect((await ws.call('delete_file', { path, recursive: true })).error, path).toMatchObject({
      code: 'PERMISSION_DENIED',
    });
  }
  expect((await ws.call('delete_file', { path: '' })).error).toMatchObject({ code: 'INVALID_PATH' });
  expect((await ws.call('delete_file', { path: 'no' })).error).toMatchObject({ code: 'FILE_NOT_FOUND' });
  expect((await ws.call('delete_file', { path: 'd', recursive: true })).error).toMatchObject({
    code: 'PERMISSION_DENIED',
  });
  expect(ws.asked).toEqual([]);
  expect(existsSync(ws.file('d/.env'))).toBe(true);
});

test('a file whose content is a secret is neither overwritten nor deleted, and nobody is asked', async () => {
  const token = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}\n`;
  await using ws = await tempWorkspace({ files: { 'notes.txt': token } });
  for (const [tool, args] of [
    ['write_file', { content: 'x' }],
    ['delete_file', {}],
  ] as const) {
    const { error } = await ws.call(tool, { path: 'notes.txt', ...args });
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED', details: { reason: 'secret', path: 'notes.txt' } });
  }
  expect(ws.asked).toEqual([]);
  expect(readFileSync(ws.file('notes.txt'), 'utf8')).toBe(token);
});

test('[E06] moves without asking, makes folders, and replaces only with overwrite, which asks', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'A', 'b.txt': 'B', 'dir/x.txt': 'X' } });
  const moved = await ws.call('move_file', { from: 'a.txt', to: 'deep/er/a.txt' });
  expect(moved.value).toEqual({ from: 'a.txt', to: 'deep/er/a.txt', replaced: false });
  expect((await ws.call('move_file', { from: 'dir', to: 'folder' })).ok).toBe(true);
  expect(ws.asked).toEqual([]);
  const occupied = await ws.call('move_file', { from: 'deep/er/a.txt', to: 'b.txt' });
  expect(occupied.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('overwrite') });
  expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('B');
  expect((await ws.call('move_file', { from: 'deep/er/a.txt', to: 'b.txt', overwrite: true })).ok).toBe(true);
  expect(ws.asked).toEqual(['It changes b.txt, which exists.']);
  expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('A');
  expect(readFileSync(ws.file('folder/x.txt'), 'utf8')).toBe('X');
});

test('[E06] both ends are checked', async () => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok', 'd/x': '', '.docker/config.json': 'K' } });
  writeFileSync(`${ws.outside}/secret.txt`, 'CANARY');
  const codes = async (from: string, to: string) => (await ws.call('move_file', { from, to })).error?.code;
  expect(await codes('ok.txt', '../out/ok.txt')).toBe('INVALID_PATH');
  expect(await codes(`${ws.outside}/secret.txt`, 'got.txt')).toBe('INVALID_PATH');
  expect(await codes('d', 'd/e')).toBe('INVALID_PATH');
  expect(await codes('.docker', 'docker')).toBe('PERMISSION_DENIED');
  expect(await codes('ok.txt', '.env')).toBe('PERMISSION_DENIED');
  expect(await codes('ok.txt', 'd')).toBe('CONFLICT');
  expect(readdirSync(ws.outside)).toEqual(['secret.txt']);
});

test('[E06] moves to another file system, and a failed copy leaves the source whole and no half file', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'small', 'big.bin': 'x'.repeat(200_000) } });
  mkdirSync(ws.file('mnt'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', ws.file('mnt')]);
  try {
    const moved = await ws.call('move_file', { from: 'a.txt', to: 'mnt/a.txt' });
    expect(moved.ok).toBe(true);
    expect(readFileSync(ws.file('mnt/a.txt'), 'utf8')).toBe('small');
    expect(existsSync(ws.file('a.txt'))).toBe(false);
    const failed = await ws.call('move_file', { from: 'big.bin', to: 'mnt/big.bin' });
    expect(failed.error).toMatchObject({ code: 'EXECUTION_ERROR', message: expect.stringContaining('disk is full') });
    expect(readFileSync(ws.file('big.bin'), 'utf8').length).toBe(200_000);
    expect(readdirSync(ws.file('mnt'))).toEqual(['a.txt']);
    expect((await ws.workspace.undo(moved.callId as string)).ok).toBe(true);
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('small');
  } finally {
    execFileSync('umount', [ws.file('mnt')]);
  }
});
