import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stagedChanges, type TrySandbox, trySandbox } from '../testing/try-sandbox.ts';

let at: TrySandbox;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: at.workspace });
const AS_ME = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c;';
const losing = async (script: string) => (await stagedChanges(at, `${AS_ME} ${script}`)).filter(({ loses }) => loses);

/** A branch `main` with two commits and a tag, and a branch `side` with a commit that only it leads to. */
beforeEach(() => {
  at = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
  git('init', '-q', '-b', 'main');
  for (const text of ['one\n', 'two\n']) {
    at.write('a.txt', text);
    git('add', '-A');
    git('commit', '-qm', text);
  }
  git('tag', '-a', 'v1', '-m', 'v1');
  const tree = git('rev-parse', 'main^{tree}').toString().trim();
  const commit = git('commit-tree', tree, '-p', 'main', '-m', 'side').toString().trim();
  git('update-ref', 'refs/heads/side', commit);
});
afterEach(() => at[Symbol.asyncDispose]());

const PACKED = 'git repack -adq && git prune-packed && git pack-refs --all';

describe.each([
  ['of loose objects', 'true'],
  ['that is packed', PACKED],
])('in a repository %s', (_what, prepare) => {
  beforeEach(() => {
    execFileSync('bash', ['-c', prepare], { cwd: at.workspace });
  });

  test.each([
    ['every object is deleted', 'find .git/objects -type f -delete'],
    ['the folders of objects go', 'rm -rf .git/objects/?? .git/objects/pack'],
    [
      'all objects are deleted and another pack comes',
      'find .git/objects -type f -delete; echo x >b; git add b; git repack -q',
    ],
    [
      'objects are emptied',
      'find .git/objects -type f ! -name \'*.idx\' -exec sh -c \'chmod u+w "$1"; : >"$1"\' - {} \\;',
    ],
    ['the only ref to commits is deleted', 'git update-ref -d refs/heads/side'],
    ['a branch is deleted that nothing else leads to', 'git branch -qD side'],
    ['the only ref to commits is moved', 'rm -r .git/logs; echo $(git rev-parse main) >.git/refs/heads/side'],
    ['the files of all branches go', 'rm -rf .git/refs/heads/* .git/packed-refs .git/logs'],
    ['the repository is broken', 'rm .git/HEAD; git pack-refs --all; rm -f .git/packed-refs .git/refs/heads/side'],
  ])('a loss is that %s', async (_how, script) => {
    const lost = await losing(script);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.every(({ path, reason }) => path.startsWith('.git/') && reason !== undefined)).toBe(true);
  });

  test.each([
    ['a commit', 'echo three >a.txt; git commit -qam three'],
    ['git gc', 'git gc -q'],
    ['git gc that collects what nothing leads to', 'echo lost | git hash-object -w --stdin; git gc -q --prune=now'],
    ['git repack and git pack-refs', 'git repack -adfq; git pack-refs --all'],
    [
      'the unpacking of a pack',
      'mv .git/objects/pack/*.pack . && git unpack-objects -q <*.pack; rm -f *.pack .git/objects/pack/*; git status',
    ],
    ['git reset --hard, which the reflog remembers', 'git reset -q --hard HEAD~1'],
    ['git commit --amend', 'git commit -q --amend -m other'],
    ['the deletion of a tag', 'git tag -d v1'],
    ['the deletion of a merged branch', 'git merge -q side; git branch -d side'],
    ['git stash and git stash pop', 'echo z >a.txt; git stash -q; git stash pop -q'],
    ['the refs of a remote', 'git update-ref refs/remotes/o/main side; git update-ref -d refs/remotes/o/main'],
  ])('no loss is %s', async (_what, script) => {
    expect((await losing(script)).map(({ path }) => path)).toEqual([]);
  });
});

describe('of stashes', () => {
  beforeEach(() => {
    for (const text of ['first\n', 'second\n']) {
      at.write('a.txt', text);
      git('stash', '-q');
    }
  });

  test.each([
    ['one that is dropped', 'git stash drop -q'],
    ['an older one that is dropped', 'git stash drop -q stash@{1}'],
    ['all that are cleared', 'git stash clear'],
    ['those whose list goes', 'rm -rf .git/logs'],
    ['one that is changed after it is popped', 'git stash pop -q; echo third >a.txt'],
  ])('lost is %s', async (_which, script) => {
    const lost = (await losing(script)).map(({ path }) => path);
    expect(lost.some((path) => path.includes('stash') || path === '.git/logs')).toBe(true);
  });

  test('none is lost that is popped', async () => {
    expect(await losing('git stash pop -q')).toEqual([]);
  });
});

test.each([
  ['packed-refs', 'git pack-refs --all && touch .git/packed-refs', 'rm .git/packed-refs'],
  ['logs', 'true', 'rm -r .git/logs'],
  ['rr-cache', 'mkdir .git/rr-cache', 'rm -r .git/rr-cache'],
])('.git/%s is a loss even where every commit is still reached', async (name, prepare, script) => {
  execFileSync('bash', ['-c', prepare], { cwd: at.workspace });
  expect((await losing(script)).map(({ path }) => path)).toEqual([`.git/${name}`]);
});

test('the repository of a folder below is looked at in the same way', async () => {
  execFileSync('git', ['init', '-q', 'sub'], { cwd: at.workspace });
  at.write('sub/x', 'x\n');
  const inSub = (...args: string[]) => git('-C', 'sub', ...args);
  inSub('add', '-A');
  inSub('commit', '-qm', 'x');
  expect(await losing('git -C sub gc -q')).toEqual([]);
  expect((await losing('find sub/.git/objects -type f -delete')).length).toBeGreaterThan(0);
});

test('a large index of a pack that cannot be told is a loss, not a pass', async () => {
  execFileSync('bash', ['-c', PACKED], { cwd: at.workspace });
  const [index = ''] = execFileSync('bash', ['-c', 'ls .git/objects/pack/*.idx'], { cwd: at.workspace })
    .toString()
    .split('\n');
  execFileSync('chmod', ['u+w', index], { cwd: at.workspace });
  appendFileSync(join(at.workspace, index), Buffer.alloc(33 * 1024 * 1024));
  expect((await losing(`rm ${index.replace('.idx', '')}.*`)).length).toBeGreaterThan(0);
}, 60_000);
