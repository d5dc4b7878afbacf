import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decidePath, takeBack } from '../../src/app/admin/decide-paths.ts';
import { type App, type AppOptions, openApp } from '../../src/app/open-app.ts';
import { ExecutionContext } from '../../src/kernel/call/execution-context.ts';
import type { ToolResult } from '../../src/kernel/tool/tool-result.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const PLANT = 'touch PWNED';
const manifest = (script: string, name = 'test') =>
  JSON.stringify({ name: 'x', version: '1.0.0', scripts: { [name]: script } });

let home: string;
let workspace: string;
const apps: App[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agreed-'));
  workspace = join(home, 'project');
  put('package.json', manifest('echo as-before'));
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  rmSync(home, { recursive: true, force: true });
});

function put(name: string, content: string): void {
  mkdirSync(dirname(join(workspace, name)), { recursive: true });
  writeFileSync(join(workspace, name), content);
}

async function open(mode: string, more: Partial<AppOptions> = {}, flags: Record<string, string> = {}): Promise<App> {
  const opened = await openApp({ workspace, home, env: { PATH: path }, flags: { mode, ...flags }, ...more });
  if (!opened.ok) throw new Error(opened.error.message);
  apps.push(opened.value);
  return opened.value;
}

const yes = { approver: () => ({ approved: true, by: 'ann' }) };
const call = (app: App, tool: string, args: object) => app.executor.execute(tool, app.context, args);

async function write(app: App, name: string, content: string): Promise<void> {
  expect((await call(app, 'write_file', { path: name, content })).error).toBeNull();
}

function expectRefusal(result: ToolResult, name: string): void {
  expect(result.error?.code, result.text).toBe('PERMISSION_DENIED');
  expect(result.error?.message).toContain('nobody has agreed');
  expect(result.error?.message).toContain(name);
  expect(existsSync(join(workspace, 'PWNED'))).toBe(false);
}

async function expectRuns(app: App, command: string, args: object = {}): Promise<void> {
  const done = await call(app, 'bash', { command, ...args });
  expect(done.error, done.text).toBeNull();
  expect(done.text).toContain('as-before');
}

describe('in mode strict a script of the agent', () => {
  test.each([
    ['cd sub && npm test', {}],
    ['npm test', { cwd: 'sub' }],
    ['npm test', { cwd: './sub/../sub' }],
    ['cd link && npm test', {}],
    ['cd .; cd sub; npm run test', {}],
    ['npm install', { cwd: 'sub' }],
    ['ls && npm ci', { cwd: 'sub' }],
  ])('does not run by %s %o', async (command, more) => {
    put('sub/readme.md', 'x');
    symlinkSync('sub', join(workspace, 'link'));
    const app = await open('strict');
    await write(app, 'sub/package.json', manifest(PLANT));
    expectRefusal(await call(app, 'bash', { command, ...more }), 'sub/package.json');
    await expectRuns(await open('ask', yes), 'npm test');
  });

  test.each([
    'npm --prefix sub test',
    'npm -C sub test',
    'npm test -w sub',
    'npm test --workspace=sub',
    'npm test --workspaces',
  ])('does not run by %s where a rule lists all of npm', async (command) => {
    put('package.json', JSON.stringify({ workspaces: ['sub'], scripts: { test: 'echo as-before' } }));
    const app = await open('strict', {}, { allow: 'bash(npm *)' });
    await write(app, 'sub/package.json', manifest(PLANT));
    expectRefusal(await call(app, 'bash', { command }), 'sub/package.json');
  });

  test('runs as long as a person agrees to its present text by a decision about its path', async () => {
    const app = await open('strict');
    const agreed = manifest('echo as-before again');
    await write(app, 'sub/package.json', agreed);
    const run = () => call(app, 'bash', { command: 'npm test', cwd: 'sub' });
    expectRefusal(await run(), 'sub/package.json');
    const decided = await decidePath(app, { path: 'sub/package.json', kind: 'agreed-text' }, 'ann');
    if (!decided.ok) throw new Error(decided.error.message);
    await expectRuns(app, 'npm test', { cwd: 'sub' });
    expect((await takeBack(app, 'sub/package.json', 'ann')).ok).toBe(true);
    expectRefusal(await run(), 'sub/package.json');
  });

  test.each(['pretest', 'posttest', 'preinstall', 'prepare'])('does not run as %s', async (name) => {
    const app = await open('strict', {}, { allow: 'bash(npm *),edit_file,bash(echo *)' });
    await call(app, 'edit_file', {
      path: 'package.json',
      edits: [{ old: '{"test"', new: `{"${name}":"${PLANT}","test"` }],
    });
    expect(readFileSync(join(workspace, 'package.json'), 'utf8')).toContain(PLANT);
    expectRefusal(
      await call(app, 'bash', { command: name === 'preinstall' ? 'npm install' : 'npm test' }),
      'package.json',
    );
  });

  test('does not run under a name that it is moved to, as a file or in a folder', async () => {
    const app = await open('strict');
    await write(app, 'notes/a.txt', manifest(PLANT));
    const mover = await open('ask', yes);
    expect((await call(mover, 'move_file', { from: 'notes/a.txt', to: 'sub/package.json' })).ok).toBe(true);
    expectRefusal(await call(app, 'bash', { command: 'cd sub && npm test' }), 'sub/package.json');
    expect((await call(mover, 'move_file', { from: 'sub', to: 'other' })).ok).toBe(true);
    expectRefusal(await call(app, 'bash', { command: 'cd other && npm test' }), 'other/package.json');
  });

  test('does not run where a command put it, also in a folder that is new as a whole', async () => {
    const asking = await open('ask', yes);
    const made = await call(asking, 'bash', { command: `mkdir sub && echo '${manifest(PLANT)}' > sub/package.json` });
    expect(made.error).toBeNull();
    expect(existsSync(join(workspace, 'sub/package.json'))).toBe(true);
    expectRefusal(await call(await open('strict'), 'bash', { command: 'cd sub && npm test' }), 'sub/package.json');
  });

  test('does not run when it is named by a script or by the command', async () => {
    put('package.json', manifest('echo as-before && node tools/build'));
    const app = await open('strict', {}, { allow: 'bash(npm *),bash(node *),bash(cd *)' });
    await write(app, 'tools/other.js', '1');
    await write(app, 'src/a.test.js', '1');
    put('tools/build.js', '2');
    await expectRuns(app, 'npm test');
    rmSync(join(workspace, 'tools/build.js'));
    await write(app, 'tools/build.js', PLANT);
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), 'tools/build.js');
    expectRefusal(await call(app, 'bash', { command: 'node tools/other.js' }), 'tools/other.js');
    expectRefusal(await call(app, 'bash', { command: 'cd tools && node ./other' }), 'tools/other.js');
  });

  test.each([
    'vitest.config.ts',
    'sub/.eslintrc.js',
    'Makefile',
    'sub/node_modules/.bin/vitest',
    'conftest.py',
    '.babelrc',
  ])('does not run as %s', async (name) => {
    const app = await open('strict');
    await write(app, name, 'x');
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), name);
    expect((await call(app, 'bash', { command: 'ls && cat package.json | grep test' })).ok).toBe(true);
  });

  test.each([
    ['for f in tools/*.sh; do sh $f; done', 'tools/x.sh'],
    ['D=tools; node $D/x.js', 'tools/x.js'],
    ['ls tools | xargs node', 'tools/x.js'],
    ["find tools -name '*.js' -exec node {} \\;", 'tools/x.js'],
    ['python3 -m tools.mod', 'tools/mod.py'],
    ['python3 -m tools.mod', 'tools/__init__.py'],
    ['$D/run', 'tools/run'],
    ['cat tools/steps | sh', 'tools/steps'],
    ['sh < tools/steps.txt', 'tools/steps.txt'],
    ['concurrently "sh tools/*.sh"', 'tools/x.sh'],
    ['node -e "require(\'./tools/x\')"', 'tools/x.js'],
    ['cd tools && node $F.mjs', 'tools/x.mjs'],
    ['sh "$(ls tools/*)"', 'tools/x.txt', '#!/bin/sh\n'],
    ['npm start', 'server.js'],
    ['true', 'binding.gyp'],
    ['true', 'sub/x.gypi'],
    ['true', 'npm-shrinkwrap.json'],
  ])('does not run by the script %s as %s', async (script, name, start = '') => {
    put('package.json', manifest(`echo as-before; ${script}`));
    const app = await open('strict', {}, { allow: 'bash' });
    await write(app, name, `${start}${PLANT}`);
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), name);
    if (script === 'true') return;
    expect((await call(app, 'bash', { command: script })).error?.code).toBe('PERMISSION_DENIED');
  });

  test.each([
    ['for f in tools/*.sh; do sh $f; done', 'tools/notes.txt'],
    ['D=tools; node $D/x.js', 'tools/other.js'],
    ['sh tools/*.sh', 'src/x.sh'],
    ['$CC -o x', 'src/x.js'],
    ['node --test test/*.test.js', 'test/new.test.js'],
    ['mocha test/*.js', 'test/new.js'],
    ['node tools/build.js', 'src/new.js'],
  ])('is no program of the script %s as %s, and is left to run', async (script, name) => {
    put('package.json', manifest(`echo as-before || ${script}`));
    const app = await open('strict');
    await write(app, name, 'x');
    await expectRuns(app, 'npm test');
  });

  test('does not run after a restart, from another session, or when the person changed another line of it', async () => {
    await write(await open('strict'), 'sub/package.json', manifest(PLANT));
    await apps.pop()?.close();
    const app = await open('strict');
    const other = new ExecutionContext({ ...app.context, sessionId: 'another' });
    expectRefusal(await app.executor.execute('bash', other, { command: 'cd sub && npm test' }), 'sub/package.json');
    put('sub/package.json', `${manifest(PLANT)}\n`);
    expectRefusal(await call(app, 'bash', { command: 'cd sub && npm test' }), 'sub/package.json');
  });
});

describe('in mode strict a script', () => {
  test('that was there before runs, also once the agent’s change of it is undone', async () => {
    const app = await open('strict', {}, { allow: 'bash(npm *),edit_file' });
    await expectRuns(app, 'npm test');
    const edited = await call(app, 'edit_file', { path: 'package.json', edits: [{ old: 'echo', new: 'touch' }] });
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), 'package.json');
    expect((await app.workspace.undo(edited.callId ?? '')).ok).toBe(true);
    await expectRuns(app, 'npm test');
  });

  test('runs beside versions of packages that the agent wrote, and not beside a package of its own', async () => {
    const app = await open('strict', {}, { allow: 'bash(npm *),edit_file' });
    const edit = (before: string, after: string) =>
      call(app, 'edit_file', { path: 'package.json', edits: [{ old: before, new: after }] });
    await edit('"scripts"', '"devDependencies":{"left":"^1.0.0"},"scripts"');
    await expectRuns(app, 'npm test');
    await edit('^1.0.0', 'file:./evil');
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), 'package.json');
  });
});

describe('a person who is shown a diff and says yes', () => {
  const edit = (app: App, before: string, after: string) =>
    call(app, 'edit_file', { path: 'package.json', edits: [{ old: before, new: after }] });

  test('has agreed to that text, until it is edited again', async () => {
    expect((await edit(await open('ask', yes), '"test"', '"pretest":"echo agreed","test"')).ok).toBe(true);
    const app = await open('strict', {}, { allow: 'bash(npm *),edit_file' });
    await expectRuns(app, 'npm test');
    const again = await edit(app, 'echo agreed', PLANT);
    expectRefusal(await call(app, 'bash', { command: 'npm test' }), 'package.json');
    expect((await app.workspace.undo(again.callId ?? '')).ok).toBe(true);
    await expectRuns(app, 'npm test');
  });

  test('has agreed to the changes of a command', async () => {
    const asking = await open('ask', yes);
    expect((await call(asking, 'bash', { command: "sed -i 's/as-before/as-before twice/' package.json" })).ok).toBe(
      true,
    );
    expect(readFileSync(join(workspace, 'package.json'), 'utf8')).toContain('twice');
    await expectRuns(await open('strict'), 'npm test');
  });

  test('has agreed to nothing that was not in the diff, such as earlier lines of the agent', async () => {
    const asking = await open('ask', yes);
    const lines = Array.from({ length: 40 }, (_, at) => `all${at}:\n\techo ${at}`);
    await write(asking, 'Makefile', `${lines.join('\n')}\nlast:\n\t${PLANT}\n`);
    const edited = await call(asking, 'edit_file', {
      path: 'Makefile',
      edits: [{ old: 'echo 3\n', new: 'echo three\n' }],
    });
    expect(edited.ok).toBe(true);
    expectRefusal(await call(await open('strict'), 'bash', { command: 'npm test' }), 'Makefile');
  });

  test('by a rule has agreed to no text: nobody is shown one', async () => {
    const app = await open('ask', {}, { allow: 'edit_file(package.json)' });
    expect((await edit(app, 'echo as-before', PLANT)).ok).toBe(true);
    expectRefusal(await call(await open('strict'), 'bash', { command: 'npm test' }), 'package.json');
  });
});
