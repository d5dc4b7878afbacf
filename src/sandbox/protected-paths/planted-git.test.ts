import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TrySandbox, trySandbox } from '../../testing/try-sandbox.ts';

const path = process.env['PATH'] ?? '';
const EVIL = String.raw`printf '[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch %s/PWNED; false"\n' "$PWD"`;
const SHAPE = (folder: string) =>
  `mkdir -p ${folder}/objects ${folder}/refs && echo 'ref: refs/heads/main' > ${folder}/HEAD && ${EVIL} > ${folder}/config`;
let at: TrySandbox;

beforeEach(() => {
  at = trySandbox({ path });
  git('.', 'init', '-q');
  git('.', 'commit', '-q', '--allow-empty', '-m', 'first');
  at.write('sub/a.txt', 'a');
});
afterEach(() => at[Symbol.asyncDispose]());

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.email=a@b.c', '-c', 'user.name=t', ...args], {
    cwd: join(at.workspace, folder),
    env: { PATH: path, HOME: at.home, GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function statusEverywhere(): void {
  for (const folder of ['.', 'sub', 'sub/deep', 'w']) {
    try {
      git(folder, 'status');
    } catch {
      // Not a repository any more, which is as good.
    }
  }
}

describe('git on the host runs nothing that a run planted', () => {
  test.each([
    ['as a link called .git', `${SHAPE('evilgit')}; ln -s ../evilgit sub/.git`],
    ['as a link into a folder that is not looked at', `${SHAPE('node_modules/e')}; ln -s ../node_modules/e sub/.git`],
    [
      'in a folder that was moved to where nobody looks, behind a link of its name',
      `mkdir node_modules; mv sub node_modules/sub; ${SHAPE('node_modules/sub/.git')}; ln -s node_modules/sub sub`,
    ],
    [
      'behind a link by a link to all of the packages',
      `rm -r sub; ${SHAPE('node_modules/e/.git')}; ln -s node_modules nm; ln -s nm/e sub`,
    ],
    ['as a bare repository', SHAPE('sub')],
    [
      'as a common folder of a bare repository',
      `${SHAPE('node_modules/e')}; echo 'ref: refs/heads/main' > sub/HEAD; echo ../node_modules/e > sub/commondir`,
    ],
    [
      'in a submodule with the name of a folder of git',
      `${SHAPE('.git/modules/refs')}; echo 'gitdir: ../.git/modules/refs' > sub/.git`,
    ],
    [
      'in a submodule below node_modules',
      `${SHAPE('.git/modules/node_modules/x')}; echo 'gitdir: ../.git/modules/node_modules/x' > sub/.git`,
    ],
    [
      'behind a link in the modules',
      `${SHAPE('node_modules/e')}; mkdir -p .git/modules; ln -s ../../node_modules/e .git/modules/x; echo 'gitdir: ../.git/modules/x' > sub/.git`,
    ],
    [
      'behind a second line',
      `${SHAPE('node_modules/e')}; mkdir -p '.git/modules/x'; printf 'gitdir: ../node_modules/e\ngitdir: ../.git/modules/x\n' > sub/.git`,
    ],
    [
      'as the common folder of a submodule',
      `${SHAPE('node_modules/e')}; mkdir -p .git/modules/x; echo 'ref: refs/heads/main' > .git/modules/x/HEAD; echo ../../../node_modules/e > .git/modules/x/commondir; echo 'gitdir: ../.git/modules/x' > sub/.git`,
    ],
    ['in a new folder with a hidden name', `rm -r sub; ${SHAPE('.composer/e/.git')}; ln -s .composer/e sub`],
    [
      'behind a link in a new folder with a hidden name',
      `rm -r sub; ${SHAPE('node_modules/e/.git')}; mkdir .composer; ln -s ../node_modules .composer/n; ln -s .composer/n/e sub`,
    ],
    [
      'behind a link with a hidden name',
      `rm -r sub; ${SHAPE('node_modules/e/.git')}; ln -s node_modules .env; ln -s .env/e sub`,
    ],
    [
      'in a folder whose name is no text, beside one with the name it is read as',
      `rm -r sub; x=$(printf 'x\\377'); mkdir "$(printf 'x\\357\\277\\275')"; ${SHAPE('"$x"/.git')}; ln -s "$x" sub`,
    ],
    [
      'behind a link whose name is no text',
      `rm -r sub; ${SHAPE('node_modules/e/.git')}; x=$(printf 'x\\377'); ln -s node_modules "$x"; ln -s "$x/e" sub`,
    ],
  ])('%s', async (_how, script) => {
    const { quarantined } = await at.sh(script);
    expect(quarantined).not.toEqual([]);
    statusEverywhere();
    expect(existsSync(join(at.workspace, 'PWNED'))).toBe(false);
  });

  test('in a worktree that was there: its common folder cannot be changed', async () => {
    git('.', 'worktree', 'add', '-q', 'w');
    await at.sh(
      `${SHAPE('node_modules/e')}; for f in .git/worktrees/w; do echo ../../../node_modules/e > $f/commondir; mv $f g; done`,
    );
    expect(readFileSync(join(at.workspace, '.git/worktrees/w/commondir'), 'utf8')).toBe('../..\n');
  });

  test('in a folder where nobody looks, after the link to it was made', async () => {
    expect((await at.sh('mkdir -p node_modules/e; mv sub s; ln -s node_modules/e sub')).quarantined).toEqual([]);
    expect((await at.sh(SHAPE('node_modules/e/.git'))).quarantined).not.toEqual([]);
    statusEverywhere();
    expect(existsSync(join(at.workspace, 'PWNED'))).toBe(false);
  });

  test('in two steps, the first of which looks harmless', async () => {
    await at.sh(`${SHAPE('.git/modules/x')}; rm .git/modules/x/config; echo 'gitdir: ../.git/modules/x' > sub/.git`);
    await at.sh(`${SHAPE('node_modules/e')}; mv .git/modules/x y; ln -s ../../node_modules/e .git/modules/x`);
    statusEverywhere();
    expect(existsSync(join(at.workspace, 'PWNED'))).toBe(false);
  });

  test('in a folder of hooks or a file that the configuration names', async () => {
    git('.', 'config', 'core.hooksPath', '.githooks');
    git('.', 'config', 'include.path', '../shared.gitconfig');
    at.write('.githooks/pre-push', '#!/bin/sh\n');
    at.write('shared.gitconfig', '[user]\n\tname = t\n');
    await at.sh('echo x > .githooks/pre-commit; mv .githooks h; echo "[alias] x = !y" >> shared.gitconfig');
    expect(existsSync(join(at.workspace, '.githooks/pre-commit'))).toBe(false);
    expect(readFileSync(join(at.workspace, 'shared.gitconfig'), 'utf8')).not.toContain('alias');
  });

  test('in a folder of hooks that the configuration names and that was missing', async () => {
    git('.', 'config', 'core.hooksPath', '.githooks');
    await at.sh('mkdir .githooks; echo x > .githooks/pre-commit');
    expect(existsSync(join(at.workspace, '.githooks/pre-commit'))).toBe(false);
  });

  test('in a folder of hooks that the configuration of the user names', async () => {
    writeFileSync(join(at.home, '.gitconfig'), '[include]\n\tpath = ~/more\n[core]\n\thooksPath = .shared-hooks\n');
    writeFileSync(join(at.home, 'more'), '[core]\n\thooksPath = ".other-hooks"\n');
    at.write('.shared-hooks/pre-push', '#!/bin/sh\n');
    await at.sh('echo x > .shared-hooks/pre-commit; mkdir .other-hooks; echo x > .other-hooks/pre-commit');
    for (const name of ['.shared-hooks', '.other-hooks']) {
      expect(existsSync(join(at.workspace, name, 'pre-commit'))).toBe(false);
    }
    expect(existsSync(join(at.workspace, '.shared-hooks/pre-push'))).toBe(true);
  });

  test('in a configuration whose protection a rename on the host lifted', async () => {
    git('.', 'config', 'alias.mine', '!true');
    const config = join(at.workspace, '.git/config');
    const running = at.sh(
      'until [ -e go ]; do sleep 0.05; done; git config core.fsmonitor ./evil; echo x > .git/hooks/pre-commit; true',
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    git('.', 'config', 'user.name', 'me');
    renameSync(join(at.workspace, '.git/hooks'), join(at.workspace, '.git/h'));
    renameSync(join(at.workspace, '.git/h'), join(at.workspace, '.git/hooks'));
    writeFileSync(join(at.workspace, 'go'), '');
    await running;
    expect(existsSync(config) ? readFileSync(config, 'utf8') : '').not.toContain('fsmonitor');
    expect(existsSync(join(at.workspace, '.git/hooks/pre-commit'))).toBe(false);
  });
});

test('what the user changes in a configuration during a run stays, with what stood there before', async () => {
  git('.', 'config', 'alias.mine', '!true');
  const running = at.sh('until [ -e go ]; do sleep 0.05; done');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  git('.', 'config', 'user.name', 'me');
  writeFileSync(join(at.workspace, 'go'), '');
  expect((await running).quarantined).toEqual([]);
  expect(readFileSync(join(at.workspace, '.git/config'), 'utf8')).toContain('name = me');
});

test('ordinary worktrees, submodules and bare repositories of a run are left alone', async () => {
  const script =
    'git worktree add -q w 2>/dev/null; git init -q --bare b; git clone -q --bare . c 2>/dev/null; git -C w status --short; git init -q o; git -C o config core.worktree ..; ls -d w/.git b/HEAD c/HEAD';
  const { quarantined, stdout } = await at.sh(script);
  expect(stdout).toBe('b/HEAD\nc/HEAD\nw/.git\n');
  expect(quarantined).toEqual([]);
});

test('links into packages are left alone, and so is what a package manager does there', async () => {
  const { quarantined, stderr } = await at.sh(
    'mkdir -p node_modules/p/dist node_modules/.bin p; touch node_modules/p/dist/a.js; ln -s ../p/dist/a.js node_modules/.bin/p; ln -s ../node_modules p/node_modules; ln -s node_modules/p/dist vendor',
  );
  expect([quarantined, stderr]).toEqual([[], '']);
  expect((await at.sh('rm -r node_modules && mkdir -p node_modules/p/dist && ls vendor')).exitCode).toBe(0);
});

test('a package manager replaces packages behind a link, whatever settings they ship', async () => {
  const install = (folder: string) =>
    `mkdir -p ${folder}/.husky ${folder}/.vscode; touch ${folder}/.husky/pre-commit ${folder}/.vscode/settings.json ${folder}/.gitmodules`;
  const run = async (script: string) => {
    const { exitCode, stderr, quarantined } = await at.sh(script);
    expect({ exitCode, stderr, quarantined }, script).toEqual({ exitCode: 0, stderr: '', quarantined: [] });
  };
  await run(`${install('node_modules/p')}; mkdir public; ln -s ../node_modules public/vendor`);
  await run(`mv node_modules/p node_modules/.p; ${install('node_modules/p')}; rm -r node_modules/.p`);
  await run(`rm -r node_modules && ${install('node_modules/p')}; ${install('node_modules/q')}`);
  git('.', 'init', '-q', 'node_modules/clone');
  await run('git -C node_modules/clone config user.name me && rm -r node_modules');
});

test.each([
  ['settings', 'config', EVIL],
  ['a common folder', 'commondir', 'echo ../e'],
  ['a hook', 'hooks/pre-commit', 'echo x'],
])(
  '%s of a repository behind a link into packages can be changed by a run and are put aside',
  async (_what, name, text) => {
    git('.', 'init', '-q', 'node_modules/e');
    at.write(`node_modules/e/.git/${name}`, '');
    symlinkSync('node_modules/e', join(at.workspace, 'e'));
    const { quarantined } = await at.sh(`${text} > node_modules/e/.git/${name}`);
    expect(quarantined.map((each) => each.path)).toEqual([`node_modules/e/.git/${name}`]);
  },
);

test('settings of a repository behind a link into packages are put aside also when the link is gone', async () => {
  git('.', 'init', '-q', 'node_modules/e');
  symlinkSync('node_modules/e', join(at.workspace, 'e'));
  const { quarantined } = await at.sh(`rm e; ${EVIL} > node_modules/e/.git/config`);
  expect(quarantined.map((each) => each.path)).toEqual(['node_modules/e/.git/config']);
});

test('a submodule that a run adds is left alone', async () => {
  const script =
    'git clone -q --bare . c 2>/dev/null; git -c protocol.file.allow=always submodule --quiet add ./c s; cat .git/modules/s/config; ls s/.git';
  const { quarantined, stdout } = await at.sh(script);
  expect(stdout).toContain('worktree = ../../../s');
  expect(stdout).toContain('s/.git');
  expect(quarantined.map((each) => each.path)).toEqual(['.gitmodules']);
});

test('very many hooks are put aside with their folder, and later runs do not look at them', async () => {
  const many = 'git init -q r && cd r/.git/hooks && for i in $(seq 150); do echo x > h$i; done';
  const { quarantined } = await at.sh(many);
  expect(quarantined.map((each) => each.path)).toEqual(['r/.git/hooks']);
  expect(readdirSync(join(at.workspace, 'r/.git/hooks.quarantined'))).toContain('h150');
  expect((await at.sh('true')).quarantined).toEqual([]);
});

test('a configuration that names very many folders of hooks is put aside, and told once', async () => {
  const many = 'git init -q r && for i in $(seq 5000); do echo "[core] hooksPath = h$i"; done >> r/.git/config';
  const { quarantined, notes } = await at.sh(many);
  expect([quarantined.map((each) => each.path), notes]).toEqual([['r/.git/config'], []]);
  expect((await at.sh('true')).quarantined).toEqual([]);
});

test('a configuration that names very many folders for its files is put aside', async () => {
  const many = 'git init -q r && (echo "[core]"; for i in $(seq 5000); do echo "worktree = .."; done) >> r/.git/config';
  expect((await at.sh(many)).quarantined.map((each) => each.path)).toEqual(['r/.git/config']);
});

test('nothing runs where a configuration of the user names more folders of hooks than are looked for', async () => {
  for (let i = 0; i < 101; i++) git('.', 'config', '--add', 'core.hooksPath', `h${i}`);
  await expect(at.sh('true')).rejects.toThrow(
    /\.git\/config names more hooks and includes for git than can be protected/,
  );
});

test('hooks of the user are known again, however large, and what was put aside beside them stays', async () => {
  at.write('.git/hooks/pre-push', 'x'.repeat(200_000));
  at.write('.git/hooks/post-merge.quarantined', 'x');
  const running = at.sh('touch ready; until [ -e go ]; do sleep 0.05; done');
  while (!existsSync(join(at.workspace, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20));
  at.write('.git/hooks/pre-commit', '#!/bin/sh\n');
  writeFileSync(join(at.workspace, 'go'), '');
  expect((await running).quarantined.map((each) => each.path)).toEqual(['.git/hooks/pre-commit']);
});

test.each([
  { from: 95, to: 105, aside: ['h100', 'h101', 'h102', 'h103', 'h104', 'h50', 'h95', 'h96', 'h97', 'h98', 'h99'] },
  { from: 105, to: 95, aside: ['h50'] },
])('of $from hooks of the user that become $to, only what is new is put aside', async ({ from, to, aside }) => {
  const hook = (i: number): string => `.git/hooks/h${i}`;
  for (let i = 0; i < from; i++) at.write(hook(i), 'x');
  const running = at.sh('touch ready; until [ -e go ]; do sleep 0.05; done');
  while (!existsSync(join(at.workspace, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let i = from; i < to; i++) at.write(hook(i), 'x');
  for (let i = to; i < from; i++) rmSync(join(at.workspace, hook(i)));
  at.write(hook(50), 'other');
  writeFileSync(join(at.workspace, 'go'), '');
  const { quarantined } = await running;
  expect(quarantined.map((each) => basename(each.path)).sort()).toEqual(aside);
});

test('of very many planted files the first are told one by one, and how many more there are', async () => {
  const { quarantined, notes } = await at.sh('for i in $(seq 230); do mkdir d$i; touch d$i/.bashrc; done');
  expect(quarantined).toHaveLength(200);
  expect(notes).toEqual([expect.stringMatching(/^30 more files/)]);
  expect(existsSync(join(at.workspace, 'd230/.bashrc'))).toBe(false);
});
