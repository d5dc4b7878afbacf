import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { Health } from '../../src/protocol/health.ts';

/** Everything a machine may lack or refuse on the first day: the built command line answers each with the next step. */
const root = join(import.meta.dirname, '..', '..');
const CHINESE = { LANG: 'zh_CN.UTF-8' };
const base = realpathSync(mkdtempSync(join(tmpdir(), 'newcomer-')));
const home = join(base, 'home');
const workspace = join(base, 'my work 工作');
mkdirSync(home);
mkdirSync(workspace);
writeFileSync(join(workspace, '读 我.txt'), 'hello\n');
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

function toolwright(
  argv: readonly string[],
  change: readonly string[] = [],
  env: object = {},
  whileUp?: WhileUp,
): Promise<Ran> {
  return run([join(root, 'dist', 'cli.js'), ...argv], change, env, whileUp);
}

/** Work to do with a server that has printed its address. */
type WhileUp = (said: string) => Promise<unknown>;

/** Runs one script where `change` was done to the file system, as only this process sees it. */
function run(
  script: readonly string[],
  change: readonly string[],
  env: object,
  whileUp: WhileUp = () => sleep(1_000),
): Promise<Ran> {
  const program = ['--die-with-parent', '--dev-bind', '/', '/', ...change, '--', process.execPath, ...script];
  const child = spawn('bwrap', program, {
    cwd: workspace,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ran: Ran = { code: null, out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    ran.out += text;
    if (/^\{"url"|Ctrl-C/m.test(ran.out)) void whileUp(ran.out).finally(() => child.kill());
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (ran.err += text));
  return new Promise((done) => child.on('close', (code) => done({ ...ran, code })));
}

describe('in a folder that is no git repository, with blanks and Chinese characters in its path', () => {
  test.each([
    ['read_file', '--path', '读 我.txt'],
    ['grep', '--pattern', 'hello'],
    ['bash', '--command', 'cat "读 我.txt" && git status --short 2>&1 | head -1; pwd'],
  ])('%s works', async (...call) => {
    const { code, out } = await toolwright(['call', ...call]);
    expect({ code, hello: out.includes('hello') }).toEqual({ code: 0, hello: true });
  });
});

describe('without bubblewrap', () => {
  const gone = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].flatMap((place) =>
    realpathSync('/bin') === '/usr/bin' && place === '/bin/bwrap' ? [] : ['--ro-bind-try', '/dev/null', place],
  );

  test('a command does not run, and says what to install', async () => {
    const { code, err } = await toolwright(['call', 'bash', '--command', 'ls'], gone);
    expect(code).toBe(4);
    expect(err).toContain('Install it: `apt-get install bubblewrap`');
  });

  test('files and search work all the same', async () => {
    expect((await toolwright(['call', 'grep', '--pattern', 'hello'], gone)).out).toContain('读 我.txt:1: hello');
  });

  test('the server starts and says so at once', async () => {
    const { out, err } = await toolwright(['start', '--set', 'port=0'], gone);
    expect(out).toContain('http://127.0.0.1:');
    expect(err).toContain('Install it: `apt-get install bubblewrap`');
    const chinese = await toolwright(['start', '--set', 'port=0'], gone, CHINESE);
    expect(chinese.err).toContain(
      '没有安装 bubblewrap，命令无法隔离，因此不会运行。请安装：`apt-get install bubblewrap`',
    );
  });

  test('the page is told so', async () => {
    let health: Health | undefined;
    const look = async (said: string) => {
      const { url, token } = JSON.parse(said);
      const headers = { authorization: `Bearer ${token}` };
      health = (await (await fetch(`${url}/v1/health`, { headers })).json()) as Health;
    };
    await toolwright(['start', '--json', '--set', 'port=0'], gone, {}, look);
    expect(health?.workspaces[0]?.trouble).toContain('Install it: `apt-get install bubblewrap`');
    await toolwright(['start', '--json', '--set', 'port=0'], [], {}, look);
    expect(health?.workspaces[0]?.trouble).toBeNull();
  });

  test('the demo says what it needs instead of failing at half of its calls', async () => {
    const place = join(base, 'demos');
    mkdirSync(place);
    const { code, out, err } = await toolwright(['demo'], gone, { TMPDIR: place });
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('Install it: `apt-get install bubblewrap`');
    expect(readdirSync(place)).toEqual([]);
  });
});

test('a file is refused as a workspace', async () => {
  const { code, err } = await toolwright(['start', '--workspace', '读 我.txt']);
  expect(code).toBe(4);
  expect(err).toContain('is not a folder: give one that exists.');
});

describe('where the home cannot be written', () => {
  const readOnly = ['--ro-bind', home, home];

  test.each([
    ['doctor'],
    ['history'],
    ['call', 'read_file', '--path', '读 我.txt'],
    ['start', '--set', 'port=0'],
    ['token', 'someone', '--role', 'viewer'],
  ])('%s names the folder and how to choose another', async (...argv) => {
    const { code, out, err } = await toolwright(argv, readOnly);
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain(`cannot write its record in ${home}/.local/state/toolwright (EROFS)`);
    expect(err).toContain('TOOLWRIGHT_STATE_DIR=/folder');
  });

  test('in Chinese too', async () => {
    const { err } = await toolwright(['doctor'], readOnly, CHINESE);
    expect(err).toContain(`Toolwright 无法在 ${home}/.local/state/toolwright 写入记录（EROFS）。`);
  });

  test.each([
    [{}, 'The demo workspace cannot be copied to', 'Set XDG_DATA_HOME to one that can'],
    [CHINESE, '无法把演示工作区复制到', '请把 XDG_DATA_HOME 设为可写的目录'],
  ])('npm start says where the demo can go instead %j', async (env, what, next) => {
    const { code, err } = await run([join(root, 'scripts', 'start.mjs')], readOnly, env);
    expect(code).toBe(1);
    expect(err).toContain(`${what} ${home}/.local/share`);
    expect(err).toContain(next);
  });

  test('with that folder it works', async () => {
    const state = join(base, 'state');
    const { out } = await toolwright(['call', 'read_file', '--path', '读 我.txt'], readOnly, {
      TOOLWRIGHT_STATE_DIR: state,
    });
    expect(out).toContain('hello');
  });
});
