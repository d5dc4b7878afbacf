import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { ClassifiedChange } from '../kernel/world/stage.ts';
import { type TrySandbox, trySandbox } from '../testing/try-sandbox.ts';
import { createStages } from './create-stages.ts';

let at: TrySandbox;
beforeEach(() => {
  at = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
});
afterEach(() => at[Symbol.asyncDispose]());

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: at.workspace });

async function changesOf(script: string, wrote = (_path: string) => false): Promise<ClassifiedChange[]> {
  const stages = createStages({ sandbox: at.sandbox, policy: createFilePolicy(), home: at.home });
  const owner = { workspace: at.workspace, session: 's', callId: 'c', title: 'x', allowedBy: null, wrote };
  const begun = await stages.begin(owner);
  if (!begun.ok) throw new Error(begun.error.message);
  const ran = await at.sh(script, { mounts: 'staged', stage: begun.value.folder });
  if (ran.staged === null) throw new Error('nothing was staged');
  const finished = await begun.value.finish(ran.staged, { isPartial: false });
  if (!finished.ok) throw new Error(finished.error.message);
  const changes = [...(finished.value?.changes ?? [])];
  await finished.value?.discard();
  return changes;
}

const classAt = (changes: readonly ClassifiedChange[], path: string) =>
  changes.find((each) => each.path === path)?.class;

function repository(): void {
  git('init', '-q', '-b', 'main');
  at.write('a.txt', 'a\n');
  at.write('.gitignore', 'dist/\nnotes.txt\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
}

test('ordinary work: new, changed, ignored, packages, git', async () => {
  repository();
  at.write('notes.txt', 'mine\n');
  mkdirSync(join(at.workspace, 'node_modules/.bin'), { recursive: true });
  at.write('node_modules/.bin/tool', 'x\n');
  const changes = await changesOf(`
    echo b >b.txt; echo more >>a.txt; echo x >>notes.txt; echo evil >>node_modules/.bin/tool
    git -c user.name=a -c user.email=a@b.c commit -qam second`);
  expect(classAt(changes, 'b.txt')).toBe('new');
  expect(classAt(changes, 'a.txt')).toBe('ordinary');
  expect(classAt(changes, 'notes.txt')).toBe('ignored');
  expect(classAt(changes, 'node_modules/.bin/tool')).toBe('packages');
  const inGit = changes.filter(({ path }) => path.startsWith('.git/'));
  expect(new Set(inGit.map((each) => each.class))).toEqual(new Set(['repository']));
});

test.each([
  ['a hook', 'echo x >.git/hooks/pre-commit', '.git/hooks/pre-commit'],
  ['a setting that runs a program', 'git config core.fsmonitor ./x', '.git/config'],
  ['which files git ignores', 'echo "*" >>.git/info/exclude', '.git/info/exclude'],
  ['a setting of an editor', 'mkdir .vscode; echo {} >.vscode/tasks.json', '.vscode/tasks.json'],
  ['a repository of any name', 'git init -q --bare odd; git -C odd config core.fsmonitor ./x', 'odd/config'],
  [
    'a repository inside git',
    'mkdir -p .git/lfs/x/objects .git/lfs/x/refs; echo ref: x >.git/lfs/x/HEAD; echo y >.git/lfs/x/config',
    '.git/lfs/x/config',
  ],
  ['a `.git` that leads elsewhere', 'mkdir s; echo gitdir: ../odd >s/.git', 's/.git'],
  ['a folder of hooks that a setting names', 'mkdir h; echo x >h/pre-push; git config core.hooksPath h', 'h/pre-push'],
  ['a symlink in place of a protected folder', 'mkdir ed; ln -s ed .vscode', '.vscode'],
  ['the removal of a folder with protected files', 'rm -rf .git', '.git'],
])('%s is protected', async (_what, script, path) => {
  repository();
  expect(classAt(await changesOf(script), path)).toBe('protected');
});

test('a new repository, and settings that only describe one, are not protected', async () => {
  repository();
  const changes = await changesOf('git init -q sub; git config user.name me; git remote add o https://example.org/x');
  expect(changes.filter((each) => each.class === 'protected')).toEqual([]);
});

test('secrets, pipes and names that are no text are never kept', async () => {
  at.write('.env', 'A=1\n');
  const changes = await changesOf("rm -f .env; echo B=2 >.env; echo x >id_rsa; mkfifo pipe; touch $'bad\\xff'");
  expect([classAt(changes, '.env'), classAt(changes, 'id_rsa'), classAt(changes, 'pipe')]).toEqual([
    'sensitive',
    'sensitive',
    'special',
  ]);
  expect(changes.find(({ unnameable }) => unnameable)?.class).toBe('special');
});

test('text that is in no commit is lost by its change, unless the session wrote it', async () => {
  repository();
  at.write('a.txt', 'typed\n');
  at.write('untracked.txt', 'typed\n');
  const losing = (changes: readonly ClassifiedChange[]) => changes.filter(({ loses }) => loses).map(({ path }) => path);
  expect(losing(await changesOf('git checkout -q -- .; rm untracked.txt'))).toEqual(['a.txt', 'untracked.txt']);
  expect(losing(await changesOf('echo x >a.txt', (path) => path === 'a.txt'))).toEqual([]);
  expect(losing(await changesOf('rm -rf .git'))).toEqual(['.git']);
});

test('a file behind a symlink to a protected folder is judged where it is', async () => {
  repository();
  symlinkSync('.git', join(at.workspace, 'gd'));
  const changes = await changesOf('echo x >gd/hooks/post-merge');
  expect(classAt(changes, '.git/hooks/post-merge')).toBe('protected');
});
