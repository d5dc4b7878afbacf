import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestTree } from './digest-tree.ts';
import { digestsOf } from './file-version.ts';
import { indexContent } from './git-index.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'git-index-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args]);
const index = () => readFileSync(join(root, '.git/index'));
const said = () => indexContent(index());

function makeRepository(format = 'sha1'): void {
  git('init', '-q', `--object-format=${format}`);
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  for (const path of ['a.txt', 'src/b.txt', 'src/deep/c.txt', 'src/deep/d.txt', `src/${'long'.repeat(50)}`]) {
    writeFileSync(join(root, path), path);
  }
  git('add', '-A');
  git('commit', '-qm', 'first');
}

/** Files get other times, and git looks at them. */
function refresh(): void {
  for (const path of ['a.txt', 'src/b.txt']) {
    rmSync(join(root, path));
    writeFileSync(join(root, path), path);
    utimesSync(join(root, path), 1000, 2000);
  }
  git('status');
}

describe.each<[what: string, args: string[], format?: string]>([
  ['version 2', []],
  ['version 3', ['update-index', '--skip-worktree', 'src/deep/d.txt']],
  ['version 4', ['update-index', '--index-version', '4']],
  ['an untracked cache', ['update-index', '--untracked-cache']],
  ['object names of 64 digits', [], 'sha256'],
])('an index with %s', (_what, args, format) => {
  beforeEach(() => {
    makeRepository(format);
    if (args.length > 0) git(...args);
  });

  test('says the same after a git status that renews it, and its folder is the same', async () => {
    const [bytes, content, folder] = [index(), said(), await digestTree(join(root, '.git'))];
    refresh();
    expect([index().equals(bytes), content !== null, said()]).toEqual([false, true, content]);
    expect(digestsOf('index', index()).at(-1)).toBe(digestsOf('index', bytes).at(-1));
    expect((await digestTree(join(root, '.git'))).digest).toBe(folder.digest);
  });

  test.each([
    ['staged content', () => (writeFileSync(join(root, 'a.txt'), 'other'), git('add', 'a.txt'))],
    ['a mode', () => git('update-index', '--chmod=+x', 'src/b.txt')],
    ['a flag', () => git('update-index', '--assume-unchanged', 'src/b.txt')],
    ['a name', () => git('mv', 'a.txt', 'e.txt')],
    ['an entry less', () => git('rm', '-q', '--cached', 'a.txt')],
    ['an announced file', () => (writeFileSync(join(root, 'new'), 'n'), git('add', '-N', 'new'))],
  ])('says something else with %s', (_how, change) => {
    const content = said();
    change();
    expect([said() === null, content === null, said()?.equals(content as Buffer)]).toEqual([false, false, false]);
  });
});

test('a folder with an index that says something else is another one', async () => {
  makeRepository();
  const digest = async () => (await digestTree(join(root, '.git'))).digest;
  const before = await digest();
  git('update-index', '--assume-unchanged', 'a.txt');
  expect(await digest()).not.toBe(before);
});

test('bytes that are not an index in every respect, and files with other names, are compared whole', () => {
  makeRepository();
  const bytes = index();
  for (const [at, value] of [
    [5, 1],
    [7, 5],
    [11, 99],
    [bytes.length - 1, (bytes.at(-1) as number) ^ 1],
  ] as const) {
    const altered = Buffer.from(bytes);
    altered[at] = value;
    expect(indexContent(altered)).toBe(null);
  }
  expect([
    indexContent(bytes.subarray(0, -1)),
    indexContent(Buffer.from('DIRC')),
    indexContent(Buffer.alloc(0)),
  ]).toEqual([null, null, null]);
  expect([digestsOf('data', bytes).length, digestsOf('index', bytes).length]).toEqual([1, 2]);
});

test('what a split index leaves out, and extensions that nobody knows, count', () => {
  makeRepository();
  const whole = said();
  git('update-index', '--split-index');
  expect(said()?.includes('link')).toBe(true);
  expect(said()?.equals(whole as Buffer)).toBe(false);
});
