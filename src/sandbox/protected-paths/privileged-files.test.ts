import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { disarmNewFiles } from './privileged-files.ts';

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'privileged-'));
  mkdirSync(join(workspace, 'sub'));
  for (const name of ['old', 'new', 'plain', 'sub/new']) writeFileSync(join(workspace, name), '');
  for (const name of ['old', 'new', 'sub/new']) chmodSync(join(workspace, name), 0o6755);
  symlinkSync('old', join(workspace, 'link'));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const mode = (name: string) => (lstatSync(join(workspace, name)).mode & 0o7777).toString(8);

test('new files lose the marks that would make them run as their owner, old ones and targets of links keep theirs', async () => {
  const before = new Map([['', ['old', 'sub']]]);
  const after = new Map([
    ['', ['old', 'sub', 'new', 'plain', 'link', 'gone']],
    ['sub', ['new']],
  ]);
  const { quarantined, left } = await disarmNewFiles(workspace, before, after);
  expect(quarantined.map(({ path }) => path)).toEqual(['new', 'sub/new']);
  expect(left).toEqual([]);
  expect(['old', 'new', 'sub/new'].map(mode)).toEqual(['6755', '755', '755']);
});

test('folders that nothing came to are not looked at', async () => {
  const names = ['old', 'new', 'sub'];
  const swept = await disarmNewFiles(workspace, new Map([['', names]]), new Map([['', names]]));
  expect([swept, mode('new')]).toEqual([{ quarantined: [], left: [] }, '6755']);
});
