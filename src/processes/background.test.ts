import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { RunRequest, Sandbox } from '../kernel/world/sandbox.ts';
import { createNone } from '../sandbox/none.ts';
import { createOutputLog } from '../sandbox/run/output-log.ts';
import { createStages } from '../stages/create-stages.ts';
import { commandWorkspace } from '../testing/command-workspace.ts';
import { processesTagged } from '../testing/sandbox-contract.ts';
import type { TempWorkspace } from '../testing/temp-workspace.ts';
import { trySandbox } from '../testing/try-sandbox.ts';
import { Background } from './background.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

interface Shown {
  process: { id: string; state: string; awaitsInput: boolean | null; exitCode: number | null; signal: string | null };
  output: string;
  next: number;
}

describe('background processes', () => {
  let ws: TempWorkspace;
  beforeAll(async () => {
    ws = await commandWorkspace({ path, mode: 'auto' });
  });
  afterAll(() => ws[Symbol.asyncDispose]());

  const call = async (tool: string, args: Record<string, unknown>, session?: string) => {
    const context = { workingDir: ws.root, ...(session !== undefined && { sessionId: session }) };
    return ws.toolwright.executor.execute(tool, context, args);
  };
  const start = async (command: string) => {
    const result = await call('bash', { command, background: true });
    if (!result.ok) throw new Error(result.text);
    return { result, id: (result.value as Shown).process.id };
  };
  const look = async (id: string, offset = 0) => {
    const result = await call('process_output', { id, offset });
    return { text: result.text, ...(result.value as Shown) };
  };
  async function until<T>(get: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const value = await get();
      if (holds(value)) return value;
      if (Date.now() > deadline) throw new Error(`not in 20 s: ${JSON.stringify(value)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test('one goes on after its call, and its output is read in pages', async () => {
    const { id, result } = await start('echo ready; for i in 1 2 3; do sleep 0.3; echo "tick $i ü"; done; sleep 300');
    expect(result.text).toMatch(/^ready\n(tick 1 ü\n)?\[p\d+: echo ready;.* \(running for \d s\)\]/);
    const all = await until(
      () => look(id),
      ({ output }) => output.includes('tick 3'),
    );
    expect(all.output).toBe('ready\ntick 1 ü\ntick 2 ü\ntick 3 ü\n');
    expect((await look(id, 6)).output).toBe('tick 1 ü\ntick 2 ü\ntick 3 ü\n');
    expect((await look(id, -10)).output).toBe('tick 3 ü\n');
    const half = await call('process_output', { id, offset: 6, length: 8 });
    expect(half.value).toMatchObject({ output: 'tick 1 ', next: 13 });
    const stopped = await call('process_stop', { id });
    expect(stopped.value).toMatchObject({ process: { state: 'exited', signal: 'SIGTERM' } });
    expect((await look(id)).output).toContain('tick 3');
  });

  test('one that cannot start says so at once', async () => {
    const { result } = await start('echo "no such port" >&2; exit 4');
    expect(result.text).toMatch(/no such port\n\[p\d+: .* \(exit code 4 after 0 s\)\]/);
  });

  test('one that waits for input says so, and gets it', async () => {
    const { id } = await start('printf "Name: "; read name; echo "Hello $name"');
    const waiting = await until(
      () => look(id),
      ({ process, output }) => process.awaitsInput === true && output === 'Name: ',
    );
    expect(waiting.text).toContain(`${id} waits for input, after "Name:"`);
    await call('process_input', { id, text: 'Ana\n' });
    const done = await until(
      () => look(id),
      ({ process }) => process.state === 'exited',
    );
    expect(done.output).toBe('Name: Hello Ana\n');
    const late = await call('process_input', { id, text: 'x\n' });
    expect(late.error).toMatchObject({ code: 'CONFLICT' });
  });

  test('its input can be closed', async () => {
    const { id } = await start('cat; echo over');
    await call('process_input', { id, text: 'last', end: true });
    const done = await until(
      () => look(id),
      ({ process }) => process.state === 'exited',
    );
    expect(done.output).toBe('lastover\n');
  });

  test('it holds no locks, and others run beside it', async () => {
    const { id } = await start('sleep 300');
    expect((await call('bash', { command: 'echo x > beside.txt' })).ok).toBe(true);
    expect((await call('write_file', { path: 'other.txt', content: 'x' })).ok).toBe(true);
    expect(existsSync(ws.file('beside.txt'))).toBe(true);
    const list = await call('process_list', {});
    expect(list.text).toContain(`${id}: sleep 300 (running`);
    await call('process_stop', { id });
  });

  test('a session sees only its own', async () => {
    const { id } = await start('sleep 300');
    expect((await call('process_list', {}, 'another')).value).toEqual({ processes: [] });
    for (const tool of ['process_output', 'process_stop']) {
      expect((await call(tool, { id }, 'another')).error).toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
    const sent = await call('process_input', { id, text: 'x' }, 'another');
    expect(sent.error).toMatchObject({ code: 'FILE_NOT_FOUND' });
    await call('process_stop', { id });
  });

  test('their number is bounded', async () => {
    const results = await Promise.all(
      Array.from({ length: 9 }, () => call('bash', { command: 'sleep 300', background: true })),
    );
    const refused = results.filter(({ ok }) => !ok);
    expect(refused.map(({ error }) => error?.code)).toEqual(['TOO_LARGE']);
    for (const { value } of results.filter(({ ok }) => ok)) {
      await call('process_stop', { id: (value as Shown).process.id });
    }
  }, 60_000);

  test('what is typed into one meets what no command may do', async () => {
    const { id } = await start('cat');
    const sent = await call('process_input', { id, text: 'rm -rf /\n' });
    expect(sent.error).toMatchObject({ code: 'PERMISSION_DENIED' });
    await call('process_stop', { id });
  });
});

test('in mode ask, a process in the background and input to it are asked about', async () => {
  await using ws = await commandWorkspace({ path, files: { 'a.txt': 'hello\n' } });
  const started = await ws.call('bash', { command: 'tee b.txt', background: true });
  await ws.call('process_input', { id: (started.value as Shown).process.id, text: 'x\n' });
  expect(ws.asked).toEqual([expect.stringContaining('background'), 'It sends "x" to "tee b.txt".']);
});

test('files that it writes are discarded with it, or kept on request once it has ended', async () => {
  await using ws = await commandWorkspace({ path, mode: 'auto', files: { 'a.txt': 'hello\n' } });
  const begin = async () => {
    const started = await ws.call('bash', { command: 'echo made >b.txt; read go', background: true });
    return (started.value as Shown).process.id;
  };
  const first = await begin();
  expect((await ws.call('process_keep', { id: first })).error).toMatchObject({ code: 'CONFLICT' });
  await ws.call('process_stop', { id: first });
  expect(existsSync(ws.file('b.txt'))).toBe(false);
  const kept = await ws.call('process_keep', { id: first });
  expect([kept.value, readFileSync(ws.file('b.txt'), 'utf8')]).toEqual([
    expect.objectContaining({ state: 'kept', created: ['b.txt'] }),
    'made\n',
  ]);
  expect((await ws.call('process_keep', { id: first })).value).toMatchObject({ state: 'nothing changed' });
});

describe('of one that a limit ended', () => {
  async function changesAfter(script: string, limits: NonNullable<RunRequest['limits']>) {
    await using at = trySandbox({ path });
    const stages = createStages({ sandbox: at.sandbox, policy: createFilePolicy(), home: at.home });
    const about = { callId: 'c', title: 'limited', allowedBy: null, wrote: () => false };
    const begun = await stages.begin({ workspace: at.workspace, session: 's', ...about });
    if (!begun.ok) throw new Error(begun.error.message);
    const background = new Background({ sandbox: at.sandbox });
    const stage = begun.value;
    const run = { command: { script }, workspace: at.workspace, mounts: 'staged', tag: 'limited' } as const;
    const request = { ...run, limits, stage: stage.folder };
    const started = await background.start('s', { title: 'limited', request, stage });
    const id = started.ok ? started.value.id : '';
    await expect
      .poll(() => background.find('s', id), { timeout: 20_000 })
      .toMatchObject({ value: { state: 'exited' } });
    const kept = await background.stageOf('s', id);
    const listed = await stages.list({});
    await background.close();
    return { kept, listed };
  }

  test('the changes are those of half a run', async () => {
    const { kept, listed } = await changesAfter('echo made >b.txt; yes', { outputBytes: 100_000 });
    expect(kept).toEqual({ ok: true, value: expect.any(String) });
    expect(listed).toMatchObject([{ isPartial: true, changes: [{ path: 'b.txt' }] }]);
  });

  test('more changes than can be listed are not called none', async () => {
    const { kept, listed } = await changesAfter('for i in $(seq 100); do : >f$i; done', { newFiles: 20 });
    expect(kept).toMatchObject({
      ok: false,
      error: { code: 'TOO_LARGE', message: expect.stringContaining('p1 changed') },
    });
    expect(listed).toEqual([]);
  });
});

test('edits of the host reach a process in the folders under version control', async () => {
  await using ws = await commandWorkspace({ path, mode: 'auto', files: { 'src/a.txt': 'one\n' } });
  execFileSync('bash', ['-c', 'git init -q && git add -A'], { cwd: ws.root });
  const command = 'while ! grep -q two src/a.txt; do sleep 0.05; done; echo seen; touch src/x || echo refused; read go';
  const started = await ws.call('bash', { command, background: true });
  const { id } = (started.value as Shown).process;
  writeFileSync(ws.file('src/a.txt.new'), 'two\n');
  renameSync(ws.file('src/a.txt.new'), ws.file('src/a.txt'));
  const output = async () => (await ws.call('process_output', { id })).text;
  await expect.poll(output, { timeout: 20_000 }).toContain('refused');
  await ws.call('process_stop', { id });
});

test('one whose call was cancelled before it could run is never started', async () => {
  await using at = trySandbox({ path, maxRunning: 1 });
  const background = new Background({ sandbox: at.sandbox });
  const busy = at.sh('sleep 1');
  const cancel = new AbortController();
  const script = {
    command: { script: 'touch started' },
    workspace: at.workspace,
    mounts: 'read',
    tag: 'late',
  } as const;
  const starting = background.start('s', { title: 'late', request: { ...script, signal: cancel.signal }, stage: null });
  cancel.abort();
  expect(await starting).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
  await busy;
  await at.sh('true');
  expect(existsSync(join(at.workspace, 'started'))).toBe(false);
  await background.close();
});

test('closing ends what runs', async () => {
  const ws = await commandWorkspace({ path, mode: 'auto' });
  const started = await ws.call('bash', { command: 'setsid sleep 300 & sleep 300', background: true });
  expect(processesTagged(String(started.callId)).length).toBeGreaterThan(0);
  await ws[Symbol.asyncDispose]();
  expect(processesTagged(String(started.callId))).toEqual([]);
});

describe('what ended ones printed', () => {
  const root = mkdtempSync(join(tmpdir(), 'background-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const request = (script: string) =>
    ({ command: { script }, workspace: root, mounts: 'live', tag: 'background' }) as const;

  test('stays readable by when it ended and by session, not by when it began', async () => {
    const sandbox = createNone({ path, home: root, stateDir: tmpdir() });
    const background = new Background({ sandbox });
    const ended = async (scope: string) => {
      const started = await background.start(scope, { title: 'short', request: request('echo short'), stage: null });
      if (!started.ok) throw new Error(started.error.message);
      await expect.poll(() => background.find(scope, started.value.id)).toMatchObject({ value: { state: 'exited' } });
      return started.value.id;
    };
    const long = await background.start('mine', { title: 'long', request: request('echo long; read go'), stage: null });
    const id = long.ok ? long.value.id : '';
    const first = await ended('other');
    for (let i = 0; i < 32; i++) await ended('other');
    background.input('mine', id, 'go\n', true);
    await expect.poll(() => background.find('mine', id)).toMatchObject({ value: { state: 'exited' } });
    expect(background.output('mine', id, 0, 100)).toMatchObject({ ok: true, value: { text: 'long\n' } });
    expect(background.find('other', first)).toMatchObject({ ok: false });
    for (let i = 0; i < 33; i++) await ended('other');
    expect(background.output('mine', id, 0, 100)).toMatchObject({ ok: true, value: { text: 'long\n' } });
    await background.close();
    await sandbox.close();
  }, 60_000);
});

test('a run that throws is one that failed, also after it had begun', async () => {
  await using at = trySandbox({ path });
  let [begins, fails] = [false, () => {}];
  const broken: Sandbox = {
    ...at.sandbox,
    async run(request) {
      if (begins) request.onStart?.({ log: createOutputLog(at.root, 100), input: null });
      if (begins) await new Promise<void>((resolve) => (fails = resolve));
      throw new Error('it cannot be watched');
    },
  };
  const background = new Background({ sandbox: broken });
  const request = { command: ['true'], workspace: at.workspace, mounts: 'live', tag: 'broken' } as const;
  const refused = await background.start('s', { title: 'broken', request, stage: null });
  expect(refused).toMatchObject({
    ok: false,
    error: { code: 'INTERNAL', message: expect.stringContaining('cannot be') },
  });
  begins = true;
  const started = await background.start('s', { title: 'broken', request, stage: null });
  fails();
  const id = started.ok ? started.value.id : '';
  await expect
    .poll(() => background.find('s', id))
    .toMatchObject({
      value: { state: 'exited', exitCode: null, notes: [expect.stringContaining('it cannot be watched')] },
    });
  await background.close();
});
