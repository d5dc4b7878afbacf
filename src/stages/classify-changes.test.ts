import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { ClassifiedChange, StagedChange } from '../kernel/world/stage.ts';
import { stagedChanges, type TrySandbox, trySandbox } from '../testing/try-sandbox.ts';
import { classifyChanges } from './classify-changes.ts';

let at: TrySandbox;
beforeEach(() => {
  at = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
});
afterEach(() => at[Symbol.asyncDispose]());

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: at.workspace });

const changesOf = (script: string) => stagedChanges(at, script);

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
  [
    'of Bundler',
    {},
    'mkdir -p vendor/bundle/ruby/3.3.0; echo x >vendor/bundle/ruby/3.3.0/g',
    'vendor/bundle/ruby/3.3.0/g',
  ],
  ['of Composer', { 'vendor/composer/installed.json': '{}' }, 'echo x >vendor/autoload.php', 'vendor/autoload.php'],
  ['of Go', { 'vendor/modules.txt': '# a', 'vendor/a/a.go': 'a' }, 'echo x >vendor/a/a.go', 'vendor/a/a.go'],
  ['below a folder', { 'api/vendor/modules.txt': '# a' }, 'echo x >api/vendor/b.go', 'api/vendor/b.go'],
  ['that is filled anew', {}, 'mkdir -p vendor/a; echo x >vendor/a/a.go; echo y >vendor/modules.txt', 'vendor/a/a.go'],
  ['that goes', { 'vendor/modules.txt': '# a' }, 'rm -r vendor', 'vendor'],
])('a vendor folder %s has packages', async (_what, files, script, path) => {
  repository();
  for (const [name, text] of Object.entries(files)) at.write(name, text);
  expect(classAt(await changesOf(script), path)).toBe('packages');
});

test('a vendor folder that git ignores has packages', async () => {
  repository();
  at.write('vendor/lib.php', 'a');
  writeFileSync(join(at.workspace, '.gitignore'), '/vendor/\n');
  const changes = await changesOf('echo b >vendor/lib.php');
  expect(changes).toMatchObject([{ path: 'vendor/lib.php', class: 'packages' }]);
  expect(changes[0]).not.toHaveProperty('loses');
});

test('a vendor folder that people write is ordinary, also where a run puts a manifest into it', async () => {
  at.write('vendor/lib.php', 'a');
  at.write('src/vendor.ts', 'a');
  at.write('vendors/list.txt', 'a');
  repository();
  const script = `echo b | tee vendor/lib.php src/vendor.ts vendors/list.txt; echo c >vendor/c.php
    mkdir -p vendor/composer vendor/bundle; echo {} >vendor/composer/installed.json; echo x >vendor/modules.txt; echo x >vendor/bundle/x`;
  const changes = await changesOf(script);
  const classes = ['vendor/lib.php', 'src/vendor.ts', 'vendors/list.txt', 'vendor/c.php', 'vendor/bundle/x'];
  expect(classes.map((path) => classAt(changes, path))).toEqual(['ordinary', 'ordinary', 'ordinary', 'new', 'new']);
});

test('text of the user that is in no commit is lost also among packages of a vendor folder', async () => {
  at.write('vendor/modules.txt', '# a');
  at.write('vendor/a/a.go', 'a');
  repository();
  at.write('vendor/a/a.go', 'mine');
  at.write('node_modules/x', 'x');
  const changes = await changesOf('git checkout -q -- vendor; rm node_modules/x');
  expect(changes.find(({ path }) => path === 'vendor/a/a.go')).toMatchObject({ class: 'packages', loses: true });
  expect(changes.find(({ path }) => path === 'node_modules/x')?.loses).toBeUndefined();
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

const EVIL = String.raw`printf '[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch %s/PWNED; false"\n' "$PWD"`;
const SHAPE = (folder: string) =>
  `mkdir -p ${folder}/objects ${folder}/refs && echo 'ref: refs/heads/main' > ${folder}/HEAD && ${EVIL} > ${folder}/config`;

test.each([
  ['as a symlink called .git', `${SHAPE('evilgit')}; ln -s ../evilgit sub/.git`, ['evilgit/config', 'sub/.git']],
  [
    'as a symlink into packages',
    `${SHAPE('node_modules/e')}; ln -s ../node_modules/e sub/.git`,
    ['node_modules/e/config', 'sub/.git'],
  ],
  [
    'in a folder that was moved into packages, behind a symlink of its name',
    `mkdir node_modules; mv sub node_modules/sub; ${SHAPE('node_modules/sub/.git')}; ln -s node_modules/sub sub`,
    ['node_modules/sub/.git/config'],
  ],
  [
    'behind a symlink by a symlink to all of the packages',
    `rm -r sub; ${SHAPE('node_modules/e/.git')}; ln -s node_modules nm; ln -s nm/e sub`,
    ['node_modules/e/.git/config'],
  ],
  ['as a bare repository', SHAPE('sub'), ['sub/HEAD', 'sub/config']],
  [
    'as a common folder of a bare repository',
    `${SHAPE('node_modules/e')}; echo 'ref: refs/heads/main' > sub/HEAD; echo ../node_modules/e > sub/commondir`,
    ['node_modules/e/config', 'sub/HEAD', 'sub/commondir'],
  ],
  [
    'in a submodule with the name of a folder of git',
    `${SHAPE('.git/modules/refs')}; echo 'gitdir: ../.git/modules/refs' > sub/.git`,
    ['.git/modules/refs/config', 'sub/.git'],
  ],
  [
    'in a submodule below node_modules',
    `${SHAPE('.git/modules/node_modules/x')}; echo 'gitdir: ../.git/modules/node_modules/x' > sub/.git`,
    ['.git/modules/node_modules/x/config', 'sub/.git'],
  ],
  [
    'behind a symlink in the modules',
    `${SHAPE('node_modules/e')}; mkdir -p .git/modules; ln -s ../../node_modules/e .git/modules/x; echo 'gitdir: ../.git/modules/x' > sub/.git`,
    ['node_modules/e/config', 'sub/.git'],
  ],
  [
    'behind a second line',
    `${SHAPE('node_modules/e')}; mkdir -p .git/modules/x; printf 'gitdir: ../node_modules/e\ngitdir: ../.git/modules/x\n' > sub/.git`,
    ['node_modules/e/config', 'sub/.git'],
  ],
  [
    'as the common folder of a submodule',
    `${SHAPE('node_modules/e')}; mkdir -p .git/modules/x; echo 'ref: refs/heads/main' > .git/modules/x/HEAD; echo ../../../node_modules/e > .git/modules/x/commondir; echo 'gitdir: ../.git/modules/x' > sub/.git`,
    ['.git/modules/x/commondir', 'node_modules/e/config', 'sub/.git'],
  ],
  [
    'behind a symlink in a new folder with a hidden name',
    `rm -r sub; ${SHAPE('node_modules/e/.git')}; mkdir .composer; ln -s ../node_modules .composer/n; ln -s .composer/n/e sub`,
    ['node_modules/e/.git/config'],
  ],
  [
    'as the common folder of a worktree that was there',
    `${SHAPE('node_modules/e')}; echo ../../../node_modules/e > .git/worktrees/w/commondir`,
    ['.git/worktrees/w/commondir', 'node_modules/e/config'],
  ],
  ['as a folder of worktrees that moves', 'mv .git/worktrees/w g', ['g/commondir']],
  [
    'in a module whose place a symlink takes',
    `${SHAPE('node_modules/e')}; mkdir -p .git/modules; ln -s ../../node_modules/e .git/modules/x`,
    ['node_modules/e/config'],
  ],
  [
    'in a configuration padded beyond what is read',
    `head -c 2000000 /dev/zero | tr '\\0' '#' > .git/pad; printf '\n[core]\n\tfsmonitor = ./x\n' >> .git/pad; cat .git/pad >> .git/config; rm .git/pad`,
    ['.git/config'],
  ],
  [
    'in a list of ignored files padded beyond what is read',
    `(head -c 2000000 /dev/zero | tr '\\0' '#'; printf '\n*\n') >> .git/info/exclude`,
    ['.git/info/exclude'],
  ],
  ['in settings of a repository in packages', `${EVIL} > node_modules/r/.git/config`, ['node_modules/r/.git/config']],
  [
    'in hooks of a repository in packages',
    'echo x > node_modules/r/.git/hooks/pre-commit',
    ['node_modules/r/.git/hooks/pre-commit'],
  ],
  [
    'in very many hooks',
    'git init -q r && cd r/.git/hooks && for i in $(seq 150); do echo x > h$i; done',
    ['r/.git/hooks/h150'],
  ],
  [
    'in a configuration that names very many folders of hooks',
    'git init -q r && for i in $(seq 5000); do echo "[core] hooksPath = h$i"; done >> r/.git/config',
    ['r/.git/config'],
  ],
  [
    'in a configuration that names very many folders for its files',
    'git init -q r && (echo "[core]"; for i in $(seq 5000); do echo "worktree = .."; done) >> r/.git/config',
    ['r/.git/config'],
  ],
  [
    'in a submodule',
    'git init -q c; git -C c -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x; git -c protocol.file.allow=always submodule --quiet add ./c s',
    ['.gitmodules', 's/.git'],
  ],
])('a repository planted %s is protected', async (_how, script, paths) => {
  repository();
  at.write('sub/a.txt', 'a');
  git('worktree', 'add', '-q', 'w');
  git('init', '-q', 'node_modules/r');
  const changes = await changesOf(script);
  expect(paths.map((path) => [path, classAt(changes, path)])).toEqual(paths.map((path) => [path, 'protected']));
});

test.each([
  ['behind a symlink with the name of a secret', `ln -s node_modules .env; ln -s .env/e sub`, 'sensitive'],
  [
    'behind a symlink whose name is no text',
    `x=$(printf 'x\\377'); ln -s node_modules "$x"; ln -s "$x/e" sub`,
    'special',
  ],
])('a repository planted %s: the symlink is never kept', async (_how, script, kind) => {
  repository();
  const changes = await changesOf(`${SHAPE('node_modules/e/.git')}; ${script}`);
  expect(classAt(changes, 'node_modules/e/.git/config')).toBe('protected');
  expect(changes.map((each) => each.class)).toContain(kind);
});

test('a repository in a hidden folder is never kept', async () => {
  repository();
  const changes = await changesOf(`${SHAPE('.composer/e/.git')}; ln -s .composer/e sub`);
  expect(classAt(changes, '.composer/e/.git/config')).toBe('sensitive');
});

test('a repository in a folder whose name is no text is never kept, beside one with the name it is read as', async () => {
  repository();
  const script = `x=$(printf 'x\\377'); mkdir "$(printf 'x\\357\\277\\275')"; ${SHAPE('"$x"/.git')}; ln -s "$x" sub`;
  const inside = (await changesOf(script)).filter(({ unnameable, path }) => unnameable || path.endsWith('/config'));
  expect(inside.length).toBeGreaterThan(0);
  expect(new Set(inside.map((each) => each.class))).toEqual(new Set(['special']));
});

test('folders of hooks and files that a configuration names, of the repository or of the user, are protected', async () => {
  repository();
  git('config', 'core.hooksPath', '.githooks');
  git('config', 'include.path', '../shared.gitconfig');
  at.write('shared.gitconfig', '[user]\n\tname = t\n');
  writeFileSync(join(at.home, '.gitconfig'), '[include]\n\tpath = ~/more\n[core]\n\thooksPath = .shared-hooks\n');
  writeFileSync(join(at.home, 'more'), '[core]\n\thooksPath = ".other-hooks"\n');
  const changes = await changesOf(`
    for d in .githooks .shared-hooks .other-hooks; do mkdir $d; echo x > $d/pre-commit; done
    echo "[alias] x = !y" >> shared.gitconfig`);
  const hooks = ['.githooks', '.shared-hooks', '.other-hooks'].map((folder) => `${folder}/pre-commit`);
  for (const path of [...hooks, 'shared.gitconfig'])
    expect([path, classAt(changes, path)]).toEqual([path, 'protected']);
});

test('a `.git` that is a symlink to a folder outside is judged, and its configuration is read there', async () => {
  const outside = join(at.root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'config'), '[core]\n\thooksPath = h\n');
  mkdirSync(join(at.workspace, 'old'));
  symlinkSync(outside, join(at.workspace, 'old/.git'));
  const changes = await changesOf(
    `mkdir old/h; echo x >old/h/pre-push; mkdir new; ln -s ${outside} new/.git; echo x >new/f`,
  );
  expect(classAt(changes, 'old/h/pre-push')).toBe('protected');
  expect([classAt(changes, 'new/.git'), classAt(changes, 'new/f')]).toEqual(['protected', 'new']);
});

test('a rebase that ends leaves nothing to ask about, one that stops shows what it would carry out', async () => {
  repository();
  git('checkout', '-qb', 'topic');
  at.write('a.txt', 'topic\n');
  git('commit', '-qam', 'mine');
  git('checkout', '-q', 'main');
  at.write('b.txt', 'b\n');
  git('add', '-A');
  git('commit', '-qm', 'theirs');
  const who = 'export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c;';
  const ended = await changesOf(
    `${who} git rebase -q --exec true main topic && git format-patch -q -1 && git reset -q --hard main && git am -q *.patch`,
  );
  expect(ended.some(({ path }) => path.endsWith('.patch'))).toBe(true);
  expect(ended.filter((each) => each.class === 'protected')).toEqual([]);

  const conflict = `echo other >a.txt; git commit -qam other`;
  const stopped = await changesOf(`${who} git checkout -q main; ${conflict}; git rebase --exec 'make x' main topic`);
  const todo = stopped.find(({ path }) => path === '.git/rebase-merge/git-rebase-todo');
  expect(todo).toMatchObject({
    class: 'protected',
    reason: 'git on the host goes on from it, as with git rebase --continue, and carries out "exec make x"',
  });
  expect(classAt(stopped, '.git/rebase-merge/onto')).toBe('protected');
});

test('a planted list of steps is shown with its commands first, in a submodule and for a cherry-pick too', async () => {
  repository();
  const planted = await changesOf(`
    mkdir -p .git/sequencer .git/modules/a/rebase-merge .git/refs/heads/rebase-merge
    { for i in 1 2 3 4 5 6 7 8 9; do echo "pick 123456$i x"; done; echo 'x evil'; } >.git/sequencer/todo
    echo 'exec evil' >.git/modules/a/rebase-merge/git-rebase-todo
    git rev-parse HEAD >.git/refs/heads/rebase-merge/x`);
  const reasonAt = (path: string) => planted.find((each) => each.path === path)?.reason;
  expect(reasonAt('.git/sequencer/todo')).toMatch(/carries out "x evil", "pick 1234561 x", .+ and 2 more$/);
  expect(reasonAt('.git/modules/a/rebase-merge/git-rebase-todo')).toContain('"exec evil"');
  expect(classAt(planted, '.git/refs/heads/rebase-merge/x')).toBe('repository');
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

test('a file behind a symlink to a protected folder is judged where it is', async () => {
  repository();
  symlinkSync('.git', join(at.workspace, 'gd'));
  const changes = await changesOf('echo x >gd/hooks/post-merge');
  expect(classAt(changes, '.git/hooks/post-merge')).toBe('protected');
});

const TERABYTE = 2 ** 40;

test('a huge file of the host is deleted, changed or given other permissions without being read', async () => {
  for (const name of ['gone', 'moved', 'mode']) truncateSync(at.write(name, 'x'), TERABYTE);
  const started = performance.now();
  const changes = await changesOf('rm gone; mkdir d; rm moved; chmod 600 mode || true');
  expect(performance.now() - started).toBeLessThan(60_000);
  const gone = changes.find(({ path }) => path === 'gone');
  expect(gone).toMatchObject({
    kind: 'deleted',
    class: 'ordinary',
    before: { size: TERABYTE, version: expect.stringMatching(/^~/) },
  });
});

test('a huge file that a command makes ends in an error of its own, and one that there is by other means is never kept', async () => {
  expect(await changesOf('truncate -s 1T huge || echo refused >said')).toMatchObject([
    { path: 'huge', class: 'new', after: { size: 0 } },
    { path: 'said' },
  ]);
  const after = { type: 'file', mode: 0o644, size: TERABYTE, version: null } as const;
  expect(await classOf({ path: 'big', kind: 'created', before: null, after })).toEqual({
    class: 'special',
    reason: 'it is larger than 1 GB',
  });
  expect((await classOf({ path: 'big', kind: 'mode', before: after, after })).class).toBe('ordinary');
});

test.each([
  ['set-user-id', 0o4755],
  ['set-group-id', 0o2755],
])('a file with %s is special, and so is such a folder; taking the bits away is not', async (_what, mode) => {
  for (const type of ['file', 'directory'] as const) {
    const after = { type, mode, size: 1, version: null };
    const special = { class: 'special', reason: 'it would run with the rights of its owner or group' };
    expect(await classOf({ path: 'x', kind: 'created', before: null, after })).toEqual(special);
    expect(await classOf({ path: 'x', kind: 'mode', before: { ...after, mode: 0o755 }, after })).toEqual(special);
    const plain = { ...after, mode: 0o755 };
    expect((await classOf({ path: 'x', kind: 'mode', before: after, after: plain })).class).toBe('ordinary');
    expect((await classOf({ path: 'x', kind: 'deleted', before: after, after: null })).class).toBe('ordinary');
  }
});

/** The verdict about one change that no run in the sandbox can make. */
async function classOf(change: StagedChange): Promise<Pick<ClassifiedChange, 'class' | 'reason'>> {
  const git = { isIgnored: () => false, isUncommitted: () => false };
  const options = {
    workspace: at.workspace,
    policy: createFilePolicy(),
    home: at.home,
    git,
    lost: new Set<string>(),
    wrote: () => false,
  };
  const [classified] = await classifyChanges({ changes: [change], content: at.workspace }, options);
  if (classified === undefined) throw new Error('it was not classified');
  const { class: of, reason } = classified;
  return { class: of, ...(reason !== undefined && { reason }) };
}
