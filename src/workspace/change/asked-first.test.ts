import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Access } from '../../kernel/tool/access.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { createToolwright } from '../../runtime/create-toolwright.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { openWorkspace } from '../open-workspace.ts';

/** Everywhere here the person says no: what is done all the same was done unasked. */
const no = { approve: false };

test('a place is judged by where it would stand, not by the links that lead there', async () => {
  await using ws = await tempWorkspace(no);
  symlinkSync('.vscode', ws.file('cfg'));
  expect((await ws.call('write_file', { path: 'cfg/tasks.json', content: '{}' })).error?.code).toBe('APPROVAL_DENIED');
  mkdirSync(ws.file('.git'));
  symlinkSync('.git', ws.file('g'));
  expect((await ws.call('write_file', { path: 'g/hooks/x', content: '' })).error?.code).toBe('APPROVAL_DENIED');
  symlinkSync('.toolwright', ws.file('own'));
  expect((await ws.call('write_file', { path: 'own/a/b', content: '' })).error?.code).toBe('PERMISSION_DENIED');
  expect([existsSync(ws.file('.vscode')), existsSync(ws.file('.git/hooks'))]).toEqual([false, false]);
});

test('behind a link a path is judged as it was given, too: below node_modules nothing else tells', async () => {
  await using ws = await tempWorkspace({ ...no, files: { 'node_modules/s/.env': 'CANARY' } });
  symlinkSync('node_modules/s', ws.file('s'));
  expect((await ws.call('read_file', { path: 's/.env' })).error?.code).toBe('PERMISSION_DENIED');
  const planted = await ws.call('write_file', { path: 's/.vscode/tasks.json', content: '{}' });
  expect(planted.error?.code).toBe('APPROVAL_DENIED');
});

test('a folder cannot bring files to a protected place that each of them would be asked about', async () => {
  await using ws = await tempWorkspace(no);
  await ws.call('write_file', { path: 'v/tasks.json', content: '{}' });
  const moved = await ws.call('move_file', { from: 'v', to: '.vscode' });
  expect(moved.error).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining('on its own') });
  expect(existsSync(ws.file('.vscode'))).toBe(false);
  expect((await ws.call('move_file', { from: 'v', to: 'w' })).ok).toBe(true);
});

test('a folder does not bring a repository out of node_modules, and one from elsewhere may be moved', async () => {
  await using ws = await tempWorkspace({
    ...no,
    files: {
      'node_modules/x/.git/config': '',
      'node_modules/y/.git': 'gitdir: ../node_modules/x/.git',
      'pkg/.git/config': '',
      'pkg/.git/objects/a': '',
    },
  });
  for (const name of ['x', 'y']) {
    const moved = await ws.call('move_file', { from: `node_modules/${name}`, to: name });
    expect(moved.error?.code, name).toBe('PERMISSION_DENIED');
  }
  expect((await ws.call('move_file', { from: 'pkg', to: 'lib' })).ok).toBe(true);
});

test('a folder of hooks that the configuration of a repository names is protected, under each of its names', async () => {
  const config = '[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../shared.gitconfig\n';
  await using ws = await tempWorkspace({
    ...no,
    files: { '.git/config': config, 'h/a': '', 'm/tools/post-merge': '' },
  });
  symlinkSync('h', ws.file('.githooks'));
  writeFileSync(ws.file('.git/config.worktree'), '[core]\n\thooksPath = "pkg/tools" ; ours\n');
  const create = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`;
  for (const path of ['.githooks/post-merge', 'h/post-merge', 'pkg/tools/post-merge', 'shared.gitconfig']) {
    expect((await ws.call('apply_patch', { patch: create(path) })).error?.code, path).toBe('APPROVAL_DENIED');
  }
  expect((await ws.call('move_file', { from: 'm', to: 'pkg' })).error?.code).toBe('PERMISSION_DENIED');
  expect((await ws.call('write_file', { path: 'hooks/a', content: '' })).ok).toBe(true);
});

test('a folder of hooks that the configuration of the user names is protected, also in a worktree', async () => {
  await using ws = await tempWorkspace(no);
  mkdirSync(`${ws.outside}/.git/worktrees/w`, { recursive: true });
  writeFileSync(`${ws.outside}/.git/worktrees/w/commondir`, '../..\n');
  writeFileSync(`${ws.outside}/.git/config`, '[core]\n\thooksPath = of-repository\n');
  writeFileSync(`${ws.outside}/.gitconfig`, '[include]\n\tpath = more\n');
  writeFileSync(`${ws.outside}/more`, '[core]\n\thooksPath = of-user # ours\n');
  writeFileSync(ws.file('.git'), `gitdir: ${ws.outside}/.git/worktrees/w\n`);
  const world = await openWorkspace({ root: ws.root, home: ws.outside });
  const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: false }) });
  for (const path of ['of-repository/post-merge', 'of-user/post-merge']) {
    expect((await call('write_file', { path, content: '' })).error?.code, path).toBe('APPROVAL_DENIED');
  }
  world.close();
});

test('a folder does not become a repository unasked, nor does one that is get settings', async () => {
  await using ws = await tempWorkspace({
    ...no,
    files: {
      'x/config': '',
      'x/objects/a': '',
      'x/refs/a': '',
      'y/HEAD': '',
      'z/HEAD': '',
      'z/objects/a': '',
      'z/refs/a': '',
    },
  });
  for (const path of ['x/HEAD', 'y/objects/a', 'y/refs/a', 'y/commondir', 'z/config', 'z/hooks/post-receive']) {
    expect((await ws.call('write_file', { path, content: '' })).error?.code, path).toBe('APPROVAL_DENIED');
  }
  expect((await ws.call('move_file', { from: 'x/config', to: 'z/config' })).error?.code).toBe('APPROVAL_DENIED');
  for (const path of ['src/config/a.ts', 'src/hooks/b.ts', 'x/objects/b', 'z/objects/b']) {
    expect((await ws.call('write_file', { path, content: '' })).ok, path).toBe(true);
  }
  expect((await ws.call('move_file', { from: 'z', to: 'bare' })).ok).toBe(true);
});

test('a folder called head makes no repository, whatever stands beside it', async () => {
  await using ws = await tempWorkspace({
    ...no,
    files: { 'ui/HEAD/a.ts': '', 'ui/hooks/b.ts': '', 'lib/head/a.ts': '' },
  });
  for (const path of ['ui/hooks/c.ts', 'ui/config', 'ui/refs/d.ts', 'ui/HEAD/e.ts']) {
    expect((await ws.call('write_file', { path, content: '' })).ok, path).toBe(true);
  }
  for (const [from, to] of [
    ['lib/head', 'lib/top'],
    ['ui', 'components'],
  ]) {
    expect((await ws.call('move_file', { from, to })).ok, to).toBe(true);
  }
  const written = await ws.call('write_file', { path: 'lib/head', content: '' });
  expect(written.error?.code).toBe('APPROVAL_DENIED');
});

test('a link does not take the place of a folder with protected files', async () => {
  await using ws = await tempWorkspace({ files: { 'v/a.json': '{}' } });
  symlinkSync('v', ws.file('w'));
  const moved = await ws.call('move_file', { from: 'w', to: 'pkg/.vscode' });
  expect(moved.error).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining('link') });
  expect((await ws.call('move_file', { from: 'w', to: 'pkg/vscode' })).ok).toBe(true);
});

test('a link that is turned to a protected place after the call was judged leads nowhere', async () => {
  await using ws = await tempWorkspace({ files: { 'docs/x': '' } });
  mkdirSync(ws.file('.git'));
  symlinkSync('docs', ws.file('d'));
  const { call } = createToolwright({
    tools: builtInTools,
    world: ws.workspace,
    policy: {
      async decide() {
        execFileSync('ln', ['-sfn', '.git', ws.file('d')]);
        return { verdict: 'allow', rule: 'test', reason: 'test' };
      },
    },
  });
  expect((await call('write_file', { path: 'd/config', content: 'x' })).error?.code).toBe('CONFLICT');
  expect(existsSync(ws.file('.git/config'))).toBe(false);
});

/** Policy that lets everything pass, and turns a link in between. */
const turning = (link: string, to: string) => ({
  async decide() {
    execFileSync('ln', ['-sfn', to, link]);
    return { verdict: 'allow', rule: 'test', reason: 'test' } as const;
  },
});

test.each([
  ['another protected one', '.idea', 'CONFLICT'],
  ['a place outside', '/etc', 'INVALID_PATH'],
])('a link that is turned from %s to a protected place leads nowhere either', async (_what, before, code) => {
  await using ws = await tempWorkspace({ files: { '.idea/a': '', '.git/hooks/a': '' } });
  symlinkSync(before, ws.file('d'));
  const policy = turning(ws.file('d'), '.git/hooks');
  const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy });
  expect((await call('write_file', { path: 'd/x', content: 'x' })).error?.code).toBe(code);
  expect(readdirSync(ws.file('.git/hooks'))).toEqual(['a']);
});

test.each([
  ['write_file', { path: 'd/x', content: 'mine' }],
  ['edit_file', { path: 'd/x', edits: [{ old: 'same', new: 'mine' }] }],
  ['delete_file', { path: 'd/x' }],
  ['move_file', { from: 'd/x', to: 'y' }],
  ['move_file', { from: 'a.txt', to: 'd/new' }],
])(
  '%s of %o does not follow a link that is turned to an ordinary place either, with the same file in it',
  async (tool, args) => {
    const files = { 'a.txt': 'a', 'p/x': 'same', 'q/x': 'same' };
    await using ws = await tempWorkspace({ files });
    symlinkSync('p', ws.file('d'));
    const policy = turning(ws.file('d'), 'q');
    const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy });
    const { error } = await call(tool, args);
    expect(error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('nothing was changed') });
    for (const [path, text] of Object.entries(files)) expect(readFileSync(ws.file(path), 'utf8'), path).toBe(text);
    expect([readdirSync(ws.file('p')), readdirSync(ws.file('q'))]).toEqual([['x'], ['x']]);
  },
);

describe('a tool that has no plan', () => {
  const tool = (access: readonly Access[], changes: readonly Change[]) =>
    defineTool({
      name: 'change',
      description: 'Changes files',
      input: z.object({}),
      access: () => access,
      run: (_input, { files }) => files.apply(changes),
    });
  const write = { kind: 'write', path: 'd/x', content: { text: 'mine' } } as const;

  test.each(['.git/hooks', 'q'])('is held to where its access led when it was judged, not to %s', async (elsewhere) => {
    await using ws = await tempWorkspace({ files: { 'p/a': '', 'q/a': '', '.git/hooks/a': '' } });
    symlinkSync('p', ws.file('d'));
    const tools = [tool([{ kind: 'fs.write', path: 'd/x' }], [write])];
    const still = createToolwright({ tools, world: ws.workspace, policy: turning(ws.file('d'), 'p') });
    expect((await still.call('change')).ok).toBe(true);
    const turned = createToolwright({ tools, world: ws.workspace, policy: turning(ws.file('d'), elsewhere) });
    expect((await turned.call('change')).error?.code).toBe('CONFLICT');
    expect([readdirSync(ws.file('p')), readdirSync(ws.file(elsewhere))]).toEqual([['a', 'x'], ['a']]);
  });

  test('may change a symlink as well as the file it leads to', async () => {
    await using ws = await tempWorkspace({ files: { 'a.txt': 'a', 'b.txt': 'b' } });
    const policy = { decide: () => ({ verdict: 'allow', rule: 'test', reason: 'test' }) as const };
    for (const change of [
      { kind: 'write', path: 'l', content: { text: 'mine' } },
      { kind: 'delete', path: 'l' },
      { kind: 'move', from: 'b.txt', to: 'l', overwrite: true },
    ] as const) {
      symlinkSync('a.txt', ws.file('l'));
      const access = [
        { kind: 'fs.write', path: 'l' },
        { kind: 'fs.delete', path: 'b.txt' },
      ] as const;
      const { call } = createToolwright({ tools: [tool(access, [change])], world: ws.workspace, policy });
      expect((await call('change')).error, change.kind).toBeNull();
      rmSync(ws.file('l'), { force: true });
    }
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('mine');
  });
});

test('an edit that does not fit is refused at once, and not made where it fits by then', async () => {
  const config = '[core]\n';
  await using ws = await tempWorkspace({ files: { '.git/description': 'none\n', '.git/config': config } });
  symlinkSync('.git/description', ws.file('d'));
  const edit = { path: 'd', edits: [{ old: '[core]', new: '[core]\n\tfsmonitor = x' }] };
  const turned = createToolwright({
    tools: builtInTools,
    world: ws.workspace,
    policy: turning(ws.file('d'), '.git/config'),
  });
  expect((await turned.call('edit_file', edit)).error?.code).toBe('INVALID_INPUT');
  const changed = createToolwright({
    tools: builtInTools,
    world: ws.workspace,
    policy: {
      decide() {
        writeFileSync(ws.file('.git/description'), config);
        return { verdict: 'allow', rule: 'test', reason: 'test' };
      },
    },
  });
  expect((await changed.call('edit_file', { ...edit, path: '.git/description' })).error?.code).toBe('INVALID_INPUT');
  for (const path of ['.git/config', '.git/description'])
    expect(readFileSync(ws.file(path), 'utf8'), path).toBe(config);
});

test('a link in a protected folder can be deleted and moved wherever it leads', async () => {
  await using ws = await tempWorkspace({ files: { '.idea/a': '', 'a.txt': '' } });
  const decide = () => ({ verdict: 'allow', rule: 'test', reason: 'test' }) as const;
  const policy = { decide, wantsPlaces: () => true };
  const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy });
  for (const [index, target] of ['../a.txt', '/etc', 'nowhere', 'l'].entries()) {
    symlinkSync('.idea', ws.file(`d${index}`));
    for (const path of ['.idea/l', `d${index}/l`]) {
      symlinkSync(target, ws.file('.idea/l'));
      expect((await call('delete_file', { path })).error, `${path} to ${target}`).toBeNull();
    }
    symlinkSync(target, ws.file('.idea/l'));
    const moved = await call('move_file', { from: '.idea/l', to: `l${index}` });
    expect(moved.error, target).toBeNull();
  }
});

test('a move out of a protected place is asked about in every mode, also when it replaces a file', async () => {
  await using ws = await tempWorkspace({ ...no, files: { '.husky/pre-commit': '', 'b.txt': '' } });
  symlinkSync('.husky', ws.file('h'));
  const asked: boolean[] = [];
  const policy = {
    decide({ asksAlways }: { asksAlways: boolean }) {
      asked.push(asksAlways);
      return { verdict: 'deny', rule: 'test', reason: 'test' } as const;
    },
  };
  const { call } = createToolwright({ tools: builtInTools, world: ws.workspace, policy });
  await call('move_file', { from: 'h/pre-commit', to: 'b.txt', overwrite: true });
  await call('move_file', { from: 'b.txt', to: 'h/pre-commit', overwrite: true });
  expect(asked).toEqual([true, true]);
});

test('a file that changed since it was read is not edited, patched or overwritten without a question', async () => {
  await using ws = await tempWorkspace({ ...no, files: { 'a.txt': 'one\n' } });
  await ws.call('read_file', { path: 'a.txt' });
  writeFileSync(ws.file('a.txt'), 'two\n');
  const stale = await ws.call('write_file', { path: 'a.txt', content: 'x' });
  expect(stale.error?.code).toBe('CONFLICT');
  const version = (stale.error?.details as { version: string } | undefined)?.version;
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch\n';
  for (const [tool, args] of [
    ['write_file', { path: 'a.txt', content: 'x', version }],
    ['edit_file', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] }],
    ['apply_patch', { patch }],
  ] as const) {
    expect((await ws.call(tool, args)).error?.code, tool).toBe('APPROVAL_DENIED');
  }
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('two\n');
});

test('a patch is asked about as a whole, also when it begins with a link that leads out', async () => {
  await using ws = await tempWorkspace({ ...no, files: { 'a.txt': 'one\n' } });
  symlinkSync('/etc', ws.file('bad'));
  const head = '*** Begin Patch\n*** Delete File: bad\n';
  for (const patch of [`${head}*** Update File: a.txt\n@@\n-one\n+x\n*** End Patch\n`, `${head}*** End Patch\n`]) {
    expect((await ws.call('apply_patch', { patch })).error?.code).toBe('APPROVAL_DENIED');
  }
});

test('another name of a sensitive file is found out however young it is, also of one in a sensitive folder', async () => {
  await using ws = await tempWorkspace({ files: { '.env': 'CANARY', '.ssh/config': 'CANARY', 'a.txt': 'a' } });
  linkSync(ws.file('a.txt'), ws.file('b.txt'));
  expect((await ws.call('read_file', { path: 'b.txt' })).ok).toBe(true);
  linkSync(ws.file('.env'), ws.file('x.txt'));
  linkSync(ws.file('.ssh/config'), ws.file('y.txt'));
  for (const path of ['x.txt', 'y.txt']) {
    expect((await ws.call('read_file', { path })).error?.code, path).toBe('PERMISSION_DENIED');
  }
  expect(JSON.stringify(await ws.call('grep', { pattern: 'CAN' }))).not.toContain('CANARY');
  expect(await ws.call('grep', { pattern: 'CAN', output: 'files' })).toMatchObject({ value: { totalMatches: 0 } });
});

test('a protected file anywhere in a patch is asked about in every mode', async () => {
  await using ws = await tempWorkspace({ ...no, files: { 'a.txt': 'one\n', '.husky/pre-commit': 'one\n' } });
  const asked: boolean[] = [];
  const { call } = createToolwright({
    tools: builtInTools,
    world: ws.workspace,
    policy: {
      decide({ asksAlways }) {
        asked.push(asksAlways);
        return { verdict: 'deny', rule: 'test', reason: 'test' };
      },
    },
  });
  const update = (path: string) => `*** Update File: ${path}\n@@\n-one\n+two\n`;
  await call('apply_patch', {
    patch: `*** Begin Patch\n${update('a.txt')}${update('.husky/pre-commit')}*** End Patch\n`,
  });
  expect(asked).toEqual([true]);
});
