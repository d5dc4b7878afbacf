import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createFolderReader } from './read-folder.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'folder-entries-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a folder that a link has taken the place of is not read, nor one below it', async () => {
  for (const folder of ['out/deep/deeper', 'ws/a/deep/deeper']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'out/deep/secret'), '');
  const workspace = join(root, 'ws');
  using before = createFolderReader(workspace);
  expect((await before.read('a/deep')).names).toEqual(['deeper']);
  renameSync(join(workspace, 'a'), join(workspace, 'b'));
  symlinkSync('../out', join(workspace, 'a'));
  using after = createFolderReader(workspace);
  for (const path of ['a', 'a/deep', 'a/deep/deeper']) expect(() => after.read(path), path).toThrow(/ENOTDIR|ELOOP/);
  // It goes on with the folder that it knows, which was moved.
  expect((await before.read('a/deep')).names).toEqual(['deeper']);
  expect((await after.read('b/deep')).names).toEqual(['deeper']);
});
