import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';
import { toolContract } from '../../testing/tool-contract.ts';
import { bash } from './bash.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const FILES = { 'src/a.ts': 'export const a = 1;\n', 'README.md': '# Hello\n', '.env': 'KEY=hush\n' };

interface Value {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  changed: { created: string[]; modified: string[]; deleted: string[] } | null;
  artifact?: string;
}

describe('a command in mode auto', () => {
  let ws: TempWorkspace;
  const run = async (command: string, more: Record<string, unknown> = {}) => {
    const result = await ws.call('bash', { command, ...more });
    return { result, value: result.value as Value };
  };
  beforeAll(async () => {
    ws = await commandWorkspace({ path, mode: 'auto', files: FILES });
  });
  afterAll(() => ws[Symbol.asyncDispose]());

  test('[A03] [C10] bash returns stdout, stderr and the exit code', async () => {
    const { result, value } = await run('ls -la; echo oops >&2; exit 3');
    expect(value).toMatchObject({ stdout: expect.stringContaining('README.md'), stderr: 'oops\n', exitCode: 3 });
    expect(result.text).toMatch(/README\.md.*<stderr>oops\n<\/stderr>\n\[exit code 3, \d+ ms\]$/s);
  });

  test('a person sees its output as that of a terminal, with exit code and time', async () => {
    const { value } = await run('echo out; echo oops >&2; exit 3');
    expect(bash.view?.(value as never)).toEqual([
      {
        kind: 'terminal',
        text: 'out\n<stderr>oops\n</stderr>\n',
        exitCode: 3,
        durationMs: expect.any(Number),
      },
    ]);
  });

  test('[A03] the model reads at most 10,000 characters, and the rest is kept', async () => {
    const { result, value } = await run('seq 1 100000');
    expect(result.text.length).toBeLessThanOrEqual(10_000);
    expect(result.text).toMatch(/^1\n2\n.*left out here.*100000\n\[exit code 0/s);
    const more = await ws.call('read_output', { artifact: value.artifact, offset: 50_000, limit: 1 });
    expect(more.text).toContain('50000');
  });

  test('[A04] it starts in the workspace, and relative paths are relative to it', async () => {
    expect((await run('pwd; cat src/a.ts')).value.stdout).toBe(`${ws.root}\nexport const a = 1;\n`);
    expect((await run('pwd', { cwd: 'src' })).value.stdout).toBe(`${ws.root}/src\n`);
  });

  test('a folder outside is refused', async () => {
    for (const cwd of ['..', ws.outside, '/etc', 'src/../..']) {
      expect((await run('ls', { cwd })).result.error).toMatchObject({ code: 'INVALID_PATH' });
    }
  });

  test('both streams come in order', async () => {
    const { result } = await run('echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c');
    expect(result.text).toMatch(/^a\n<stderr>b\n<\/stderr>\nc\n/);
  });

  test('[E20] a program that a signal ended is an error with the code of the signal, unlike an exit with that code', async () => {
    const { result } = await run('echo so far; touch made.txt; kill -SEGV $$');
    expect(result.error).toMatchObject({
      code: 'EXECUTION_ERROR',
      message: expect.stringMatching(
        /^The program was ended by the signal SIGSEGV \(exit code 139\)\.\n.*made\.txt.*so far/s,
      ),
      details: { exitCode: 139, signal: 'SIGSEGV', stdout: 'so far\n' },
    });
    expect((await run('exit 139')).value).toMatchObject({ exitCode: 139, signal: null });
  });

  test('it says which files a command has created, changed and deleted', async () => {
    await run('echo x > old.txt');
    const { value, result } = await run('echo y > new.txt; echo z >> README.md; rm old.txt');
    expect(value.changed).toMatchObject({
      created: ['new.txt'],
      modified: ['README.md'],
      deleted: [{ path: 'old.txt' }],
    });
    expect(result.text).toContain('[Files: deleted old.txt; modified README.md; created new.txt. Kept.]');
  });

  test('colours and overwritten lines are taken out', async () => {
    const { value } = await run(String.raw`printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\n\033]0;title\007end\n'`);
    expect(value.stdout).toBe('red\n100%\nend\n');
  });

  test('[C11] [D11] a command past its time is ended, and its output until then is told', async () => {
    const { result } = await run('echo begun; sleep 300', { timeout: 1 });
    expect(result.error).toMatchObject({ code: 'TIMEOUT', details: { endedBy: 'time' } });
    expect(result.text).toMatch(/Stopped after 1 s, its time limit.*begun/s);
  });

  test('a command past its time tells the hints for what it met, too', async () => {
    const { result } = await run("echo 'mv: Invalid cross-device link'; sleep 300", { timeout: 1 });
    expect(result.text).toMatch(/Stopped after 1 s.*use mv, or move_file\..*cross-device/s);
  });

  test('a timeout that is no sensible number is refused', async () => {
    for (const timeout of [0, -1, 601, 9e12, Number.NaN, '5']) {
      expect((await run('true', { timeout })).result.error).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  test('a grandchild that keeps the output open does not hold the result', async () => {
    const { value } = await run('sleep 300 & echo done', { timeout: 60 });
    expect(value).toMatchObject({ stdout: 'done\n', exitCode: 0, duration: expect.any(Number) });
  }, 30_000);

  test('there is no input and no terminal, and a question without an answer is noticed', async () => {
    const { result, value } = await run('read -p "Continue? [y/N] " answer </dev/null || exit 1');
    expect(value.exitCode).toBe(1);
    const asked = await run('printf "Your name: " >&2; read name');
    expect(asked.result.text).toContain('It seems to wait for an answer to "Your name:"');
    expect((await run('cat; tty; echo "$CI $PAGER"')).value.stdout).toBe('not a tty\n1 cat\n');
    expect(result.ok).toBe(true);
  });

  test('output is told while it comes', async () => {
    const told: string[] = [];
    const stop = ws.toolwright.executor.on((event) => {
      if (event.type === 'call.progressed') told.push(String(event.data.output));
    });
    await run('echo one; sleep 0.3; echo two; sleep 0.2');
    stop();
    expect(told.join('')).toBe('one\ntwo\n');
    expect(told.length).toBeGreaterThan(1);
  });

  test('nothing of our environment is passed on, and what is given is', async () => {
    process.env['TOOLWRIGHT_TEST_SECRET'] = 'hush-hush';
    const { value } = await run('env', { env: { GREETING: 'hello' } });
    expect(value.stdout).toContain('GREETING=hello');
    expect(value.stdout).not.toContain('hush-hush');
  });

  test.each(['LD_PRELOAD', 'PATH', 'BASH_ENV', 'GIT_EXTERNAL_DIFF', 'NODE_OPTIONS', 'PYTHONSTARTUP'])(
    '%s cannot be set beside the command',
    async (name) => {
      const { result } = await run('git diff', { env: { [name]: './evil.sh' } });
      expect(result.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(name) });
    },
  );

  test('variables that decide nothing are set beside the command', async () => {
    const env = {
      LANG: 'de_DE.UTF-8',
      PYTHONUNBUFFERED: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    };
    const { value } = await run('env', { env });
    for (const [name, text] of Object.entries(env)) expect(value.stdout).toContain(`${name}=${text}\n`);
  });

  test('a made-up parameter that would switch the sandbox off is refused', async () => {
    const { result } = await run('touch x', { dangerouslyDisableSandbox: true });
    expect(result.error).toMatchObject({ code: 'INVALID_INPUT' });
    expect(existsSync(ws.file('x'))).toBe(false);
  });

  test('[D17] sensitive files are out of reach from inside commands', async () => {
    expect((await run('cat .env')).result.error).toMatchObject({ code: 'PERMISSION_DENIED' });
    for (const command of [
      'python3 -c "print(open(\'.env\').read())"',
      'cat .e""nv',
      'cp .[e]nv copy.txt',
      'base64 < .env',
    ]) {
      expect(JSON.stringify((await run(command)).result)).not.toContain('hush\\n');
    }
    expect(JSON.stringify((await run('tar c . | strings')).result)).not.toContain('KEY=hush');
    expect(readFileSync(ws.file('.env'), 'utf8')).toBe('KEY=hush\n');
  });

  test('[C12] [D10] a catastrophic command is refused before anything starts', async () => {
    const { result } = await run('touch started; rm -rf /');
    expect(result.error).toMatchObject({ code: 'PERMISSION_DENIED', details: { rule: 'catastrophic command' } });
    expect(result.text).toContain('Refused for safety');
    expect(existsSync(ws.file('started'))).toBe(false);
  });

  test('a cancelled command is ended, and its output until then is told', async () => {
    const stop = new AbortController();
    const unlisten = ws.toolwright.executor.on((event) => {
      if (event.type === 'call.progressed' && event.data.output?.includes('printed')) stop.abort();
    });
    const running = ws.toolwright.call('bash', { command: 'echo printed; sleep 300' }, { signal: stop.signal });
    const { error, text } = await running;
    unlisten();
    expect(error).toMatchObject({ code: 'CANCELLED', details: { phase: 'interrupted', stdout: 'printed\n' } });
    expect(text).toMatch(/^Error: Cancelled after [\d.]+ s\.\n(?:.*\n)*Its output until then:\nprinted\n/);
  });
});

describe('a command in mode ask', () => {
  test('one granted only to read cannot write', async () => {
    const decide = () => ({
      verdict: 'allow' as const,
      rule: 'reads',
      reason: '',
      access: [{ kind: 'process.run' as const, command: 'touch x', writes: 'nothing' as const }],
    });
    await using ws = await commandWorkspace({ path, options: { policy: { decide } } });
    const result = await ws.call('bash', { command: 'touch x' });
    expect(result.value).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Read-only file system') });
    expect(existsSync(ws.file('x'))).toBe(false);
  });

  test('the folder it starts in counts: what it names is judged from there', async () => {
    await using ws = await commandWorkspace({ path, files: FILES, approve: false });
    const inside = await ws.call('bash', { command: 'cat ../.env', cwd: 'src' });
    expect(inside.error).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect((await ws.call('bash', { command: 'cat ../README.md', cwd: 'src' })).ok).toBe(true);
  });

  test('a variable that halves characters is refused', async () => {
    await using ws = await commandWorkspace({ path, approve: false });
    expect((await ws.call('bash', { command: 'ls', env: { LANG: 'C' } })).ok).toBe(true);
    const halves = await ws.call('bash', { command: 'ls', env: { LC_ALL: 'zh_CN.GBK' } });
    expect(halves.error).toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('a secret that a command prints', () => {
  const git = 'git -c user.name=a -c user.email=a@b -c init.defaultBranch=main';
  const OLD = 'q7RzK2mX9vT4bN8w';
  const NOW = 'Zt5-Yp81-Lm36-Wq90';

  test('is replaced, also one of a file that is gone, and nobody is asked', async () => {
    await using ws = await commandWorkspace({ path, files: { 'a.txt': 'one\n', '.env': `TOKEN=${OLD}\n` } });
    const onHost = (script: string) => execFileSync('bash', ['-c', script], { cwd: ws.root, stdio: 'ignore' });
    onHost(
      `${git} init -q && ${git} add -f . && ${git} commit -qm one && ${git} rm -qf .env && ${git} commit -qm gone`,
    );
    onHost(`${git} remote add origin https://ana:hunter-22@host.org/a.git; printf 'TOKEN=${NOW}\n' > .env`);
    const history = [
      'git log -pw',
      'git show HEAD~1',
      'git show HEAD~1:.env',
      'git grep TOKEN HEAD~1',
      'git diff HEAD~1',
    ];
    for (const command of [
      ...history,
      'git remote -v',
      'cat .git/config >&2',
      `printf '${NOW.slice(0, 9)}'; echo '${NOW.slice(9)}'`,
    ]) {
      const { text, value } = await ws.call('bash', { command });
      expect([command, text]).toEqual([command, expect.stringMatching(/\[secret: [^\]]+, sha256:[0-9a-f]{8}\]/)]);
      expect([command, text]).toEqual([command, expect.stringContaining('1 secret in the output was replaced (')]);
      for (const secret of [OLD, NOW, 'hunter-22']) expect(JSON.stringify([text, value])).not.toContain(secret);
    }
    expect(ws.asked).toEqual([]);
  }, 60_000);

  test('is replaced in the stored output and while it comes', async () => {
    await using ws = await commandWorkspace({ path, files: { '.env': `TOKEN=${NOW}\n` } });
    const told: string[] = [];
    ws.toolwright.executor.on((event) => {
      if (event.type === 'call.progressed') told.push(JSON.stringify(event.data));
    });
    const command = `for i in 1 2 3; do printf '%s' ${NOW.slice(0, 5)}; printf '%s\n' ${NOW.slice(5)}; seq 2000; done`;
    const { value } = await ws.call('bash', { command });
    const { artifact } = value as { artifact: string };
    const stored = await ws.call('read_output', { artifact, limit: 2000 });
    expect(stored.text).toContain('[secret: value of .env, sha256:');
    expect([stored.text, ...told].join('\n')).not.toContain(NOW.slice(5));
  }, 60_000);

  test('is replaced in what a process in the background prints', async () => {
    await using ws = await commandWorkspace({ path, files: { '.env': `TOKEN=${NOW}\n` } });
    const command = `echo '${NOW.slice(0, 9)}''${NOW.slice(9)}'; read -r line; echo "$line"`;
    const started = await ws.call('bash', { command, background: true });
    expect(started.text).toContain('[secret: value of .env, sha256:');
    expect(started.text).toContain('1 secret in the output was replaced (value of .env).');
    expect(started.text).not.toContain(NOW);
  }, 60_000);
});

describe('the contract of tools', async () => {
  const ws = await commandWorkspace({ path, mode: 'auto', files: FILES });
  afterAll(() => ws[Symbol.asyncDispose]());
  const { world } = ws;
  for (const check of toolContract(bash, { args: { command: 'echo hi' }, workingDir: ws.root, runtime: { world } })) {
    test(check.title, check.run);
  }
});
