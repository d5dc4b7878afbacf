import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stagedChanges, type TrySandbox, trySandbox } from '../testing/try-sandbox.ts';

let at: TrySandbox;
beforeEach(() => {
  at = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
  at.write('a.txt', 'a\n');
  at.write('sub/b.txt', 'b\n');
});
afterEach(() => at[Symbol.asyncDispose]());

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'protocol.file.allow=always', ...args], {
    cwd: resolve(at.workspace, folder),
  });

function commitIn(folder: string): void {
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'first');
}

async function losing(script: string, wrote?: (path: string) => boolean): Promise<string[]> {
  const changes = await stagedChanges(at, script, wrote && { wrote });
  return changes.filter(({ loses }) => loses).map(({ path }) => path);
}

const OVERWRITE = 'echo x >a.txt; echo x >sub/b.txt';
const BOTH = ['a.txt', 'sub/b.txt'];

test('text that is in no commit is lost by its change, unless the session wrote it', async () => {
  commitIn('.');
  at.write('a.txt', 'typed\n');
  at.write('untracked.txt', 'typed\n');
  expect(await losing('git checkout -q -- .; rm untracked.txt')).toEqual(['a.txt', 'untracked.txt']);
  expect(await losing('echo x >a.txt', (path) => path === 'a.txt')).toEqual([]);
  expect(await losing('rm -rf .git')).toEqual(['.git']);
});

test('without a repository only what is deleted is lost', async () => {
  expect(await losing(OVERWRITE)).toEqual([]);
  expect(await losing('rm a.txt; echo x >sub/b.txt')).toEqual(['a.txt']);
});

test.each([
  ['the data of the repository cannot be read', () => writeFileSync(join(at.workspace, '.git/HEAD'), 'nonsense\n')],
  ['the index is broken', () => writeFileSync(join(at.workspace, '.git/index'), 'nonsense\n')],
  [
    'the repository has a format that this git does not know',
    () => git('.', 'config', 'core.repositoryFormatVersion', '99'),
  ],
  ['the workspace is a folder of a repository', () => renameSync(join(at.workspace, '.git'), join(at.root, '.git'))],
])('where git does not answer, all is lost that the session did not write: %s', async (_why, alter) => {
  commitIn('.');
  expect(await losing(OVERWRITE)).toEqual([]);
  alter();
  expect(await losing(OVERWRITE)).toEqual(BOTH);
  expect(await losing(OVERWRITE, (path) => path === 'a.txt')).toEqual(['sub/b.txt']);
});

test('in a linked worktree git answers: what is in a commit there is no loss', async () => {
  commitIn('.');
  const elsewhere = join(dirname(at.workspace), 'main');
  git('.', 'clone', '-q', '.', elsewhere);
  for (const path of ['.git', 'a.txt', 'sub']) rmSync(join(at.workspace, path), { recursive: true });
  git(elsewhere, 'worktree', 'add', '-qf', '-b', 'w', at.workspace);
  expect(await losing(OVERWRITE)).toEqual([]);
  writeFileSync(join(at.workspace, 'a.txt'), 'in no commit\n');
  expect(await losing(OVERWRITE)).toEqual(['a.txt']);
});

test.each([
  ['an untracked repository', () => commitIn('sub')],
  [
    'a submodule',
    () => {
      const origin = join(at.root, 'origin');
      mkdirSync(origin);
      writeFileSync(join(origin, 'b.txt'), 'b\n');
      git(origin, 'init', '-q', '-b', 'main');
      git(origin, 'add', '-A');
      git(origin, 'commit', '-qm', 'b');
      rmSync(join(at.workspace, 'sub'), { recursive: true });
      git('.', 'rm', '-rq', '--cached', 'sub');
      git('.', 'submodule', '--quiet', 'add', origin, 'sub');
      git('.', 'commit', '-qm', 'sub');
    },
  ],
])('text in %s is looked for in its own commits', async (_what, make) => {
  commitIn('.');
  make();
  expect(await losing(OVERWRITE)).toEqual([]);
  at.write('sub/b.txt', 'typed\n');
  expect(await losing(OVERWRITE)).toEqual(['sub/b.txt']);
  expect(await losing('rm -r sub/b.txt')).toEqual(['sub/b.txt']);
});

test('a repository below that git cannot read loses all in it, and nothing of the one around it', async () => {
  commitIn('.');
  commitIn('sub');
  writeFileSync(join(at.workspace, 'sub/.git/HEAD'), 'nonsense\n');
  expect(await losing(OVERWRITE)).toEqual(['sub/b.txt']);
  expect(readFileSync(join(at.workspace, 'sub/b.txt'), 'utf8')).toBe('b\n');
});
