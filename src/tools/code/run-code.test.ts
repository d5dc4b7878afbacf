import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDialer } from '../../net/dialer.ts';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';
import { toolContract } from '../../testing/tool-contract.ts';
import { runCode } from './run-code.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

describe('code in mode ask', () => {
  let ws: TempWorkspace;
  const server = createServer((_, response) => response.end('reached'));
  let port: number;
  const run = (language: string, code: string, more: Record<string, unknown> = {}) =>
    ws.call('run_code', { language, code, ...more });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    ws = await commandWorkspace({
      path,
      files: { 'a.txt': 'hello\n', '.env': 'KEY=hush\n' },
      dialer: createDialer(),
      network: { hosts: [`127.0.0.1:${port}`], privateAddresses: ['127.0.0.1'] },
    });
  });
  afterAll(async () => {
    server.close();
    await ws[Symbol.asyncDispose]();
  });

  test.each([
    [
      'python',
      'import sys, os; print(sys.argv[1:], os.environ["X"]); print("e", file=sys.stderr); sys.exit(3)',
      "['a b', '-c'] 1\n",
    ],
    ['bash', 'echo "$@" "$X"; echo e >&2; exit 3', 'a b -c 1\n'],
    [
      'javascript',
      'console.log(process.argv.slice(1).join(" "), process.env.X); console.error("e"); process.exit(3)',
      'a b -c 1\n',
    ],
  ])('[E07] %s runs unasked with its arguments and environment', async (language, code, stdout) => {
    const result = await run(language, code, { args: ['a b', '-c'], env: { X: '1' } });
    expect(result.value).toMatchObject({ stdout, stderr: 'e\n', exitCode: 3, duration: expect.any(Number) });
    expect(ws.asked).toEqual([]);
  });

  test.each([
    ['python', 'import os; os.abort()', 'SIGABRT', 134],
    ['bash', 'kill -KILL $$', 'SIGKILL', 137],
    ['javascript', 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1e6)', 'SIGTERM', 143],
  ])('[E07] [E20] %s that a signal ends is an error with its code', async (language, code, signal, exitCode) => {
    const { error } = await run(language, code);
    expect(error).toMatchObject({ code: 'EXECUTION_ERROR', details: { signal, exitCode } });
  });

  test('[E07] it ends after its timeout, which is 60 s unless it says otherwise', async () => {
    const told: string[] = [];
    // On a busy machine it may not even have begun after a second.
    for (let timeout = 1; timeout <= 32 && !told.at(-1)?.includes('begun'); timeout *= 2) {
      const late = await run('python', 'import time; print("begun", flush=True); time.sleep(300)', { timeout });
      expect(late.error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining(`${timeout} s`) });
      told.push(late.error?.message ?? '');
    }
    expect(told.at(-1)).toContain('begun');
    expect(runCode.seconds?.({ language: 'bash', code: 'true' } as never, { granted: [] } as never)).toBe(75);
  }, 120_000);

  test('[E07] bash code meets the same refusals as a command', async () => {
    for (const code of ['rm -rf /', 'echo ok; rm -rf ~', 'cat .env', 'echo x > /etc/passwd']) {
      expect((await run('bash', code)).error).toMatchObject({ code: 'PERMISSION_DENIED' });
    }
    expect((await run('bash', 'for f in *; do touch "$f.copy"; done; eval "ls"')).ok).toBe(true);
    expect(ws.asked).toEqual([]);
  });

  const fetching = () =>
    `import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:${port}/", timeout=5).read())`;

  test('[E08] without network nothing is reached, this machine included', async () => {
    const result = await run('python', fetching());
    expect(result.value).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ws.asked).toEqual([]);
  });

  test('[E08] with network it always asks, and then reaches what is allowed and nothing else', async () => {
    const reached = await run('python', fetching(), { network: true });
    expect(ws.asked.splice(0)).toEqual([expect.stringContaining('would use the network')]);
    expect(reached.value).toMatchObject({ stdout: "b'reached'\n" });
    const other = await run('python', fetching(), { network: true, hosts: ['example.org'] });
    expect(ws.asked.splice(0)).toEqual(['The code would use the network: example.org.']);
    expect(other.value).toMatchObject({ exitCode: 1, notes: [expect.stringContaining('Not reached')] });
  });

  test('[E09] a memory bomb, a fork bomb and a busy loop end with a clear error', async () => {
    const memory = await run('python', 'x = []\nwhile True: x.append(bytearray(50_000_000))');
    expect(memory.text).toMatch(/more than 1 GB of memory|MemoryError/);
    const forks = await run('python', 'import os\nwhile True: os.fork()', { timeout: 120 });
    expect(forks.text).toMatch(/more than 512 processes|temporarily unavailable/);
    expect((await run('bash', 'while :; do :; done', { timeout: 1 })).error).toMatchObject({ code: 'TIMEOUT' });
    expect((await run('bash', 'echo alive')).value).toMatchObject({ stdout: 'alive\n' });
  }, 240_000);

  test('[E10] files outside the workspace are not there, nor are secrets', async () => {
    process.env['TOOLWRIGHT_TEST_SECRET'] = 'hush-hush';
    const code = `import os, glob
print(os.path.exists(${JSON.stringify(ws.outside)}), glob.glob('/home/*'), os.environ.get('TOOLWRIGHT_TEST_SECRET'))
try: print(open('.env').read())
except Exception as error: print(type(error).__name__)
open('made.txt', 'w').write('x')
try: open('/usr/x', 'w')
except OSError as error: print(type(error).__name__)`;
    const result = await run('python', code);
    expect(result.value).toMatchObject({
      stdout: "False ['/home/toolwright'] None\nPermissionError\nOSError\n",
      changed: { created: expect.arrayContaining(['made.txt']) },
    });
  });

  test.each(['LD_PRELOAD', 'PATH', 'PYTHONPATH', 'NODE_OPTIONS', 'BASH_ENV'])(
    '[E07] the variable %s, which decides what runs, is refused',
    async (name) => {
      const result = await run('bash', 'echo hi', { env: { [name]: '/tmp/x' } });
      expect(result.error).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(`the variable ${name} decides what runs`),
      });
    },
  );

  test('whoever is asked sees the variables as well as the code', () => {
    const shown = runCode.preview?.(
      { language: 'bash', code: 'echo $A', network: true, env: { A: 'one\ntwo' } } as never,
      {} as never,
    );
    expect(shown).toBe('this bash code in the workspace, in the sandbox, with network\nA="one\\ntwo"\necho $A');
  });

  test('a folder outside is refused', async () => {
    expect((await run('python', 'print(1)', { cwd: '/tmp' })).error).toMatchObject({ code: 'INVALID_PATH' });
  });

  for (const args of [{ language: 'bash', code: 'echo hi' }]) {
    const lazily = {
      get world() {
        return ws.world;
      },
    };
    test('keeps the contract of tools', async () => {
      for (const check of toolContract(runCode, { args, workingDir: ws.root, runtime: lazily })) await check.run();
    });
  }
});

test('mode strict refuses code, and mode plan runs it and keeps nothing', async () => {
  const code = { language: 'bash', code: 'echo 1 | tee made' };
  await using strict = await commandWorkspace({ path, mode: 'strict' });
  expect((await strict.call('run_code', code)).error).toMatchObject({ code: 'PERMISSION_DENIED' });
  await using plan = await commandWorkspace({ path, mode: 'plan' });
  expect((await plan.call('run_code', code)).value).toMatchObject({ stdout: '1\n', changed: { state: 'discarded' } });
  expect(existsSync(plan.file('made'))).toBe(false);
});
