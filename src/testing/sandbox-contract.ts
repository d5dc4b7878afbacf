import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readText } from '../host/files.ts';
import {
  DEFAULT_LIMITS,
  LIVE_INPUT,
  type RunningCommand,
  type RunRequest,
  type RunResult,
  type Sandbox,
} from '../kernel/world/sandbox.ts';

/** One check of the Sandbox port's contract. Framework-free: it throws when the contract is broken. */
export interface SandboxCheck {
  readonly title: string;
  run(): Promise<void>;
}

export interface SandboxSubject {
  readonly sandbox: Sandbox;
  /** Returns a fresh empty folder. */
  workspace(): string;
  /** Value of a variable in our own environment. */
  readonly secret: string;
}

export function sandboxContract(subject: SandboxSubject): SandboxCheck[] {
  const { sandbox } = subject;

  async function run(command: RunRequest['command'], more: Partial<RunRequest> = {}): Promise<RunResult> {
    const base = { command, workspace: subject.workspace(), tag: 'contract' };
    const result = await sandbox.run({ ...base, ...(await writing(sandbox)), ...more });
    assert.ok(result.ok, result.ok ? '' : result.error.message);
    result.value.output.log.read(0, 0);
    return result.value;
  }

  const script = (text: string, more: Partial<RunRequest> = {}) => run({ script: text }, more);
  const check = (title: string, body: () => Promise<void>): SandboxCheck => ({ title, run: body });

  return [
    check('hands a program its arguments as they are, without a shell', async () => {
      const args = ['a b', '$HOME', '*', "it's", '', '-n', '\\n', 'ü'];
      const result = await run(['printf', '[%s]', ...args]);
      assert.equal(text(result.output.stdout), args.map((arg) => `[${arg}]`).join(''));
      assert.deepEqual([result.exitCode, result.signal, result.endedBy, result.endMessage], [0, null, null, null]);
    }),
    check('runs a script of any length with bash', async () => {
      assert.equal(text((await script('a=(1 2 3); echo $((a[2] + 0))')).output.stdout), '3\n');
      const long = `${'# padding\n'.repeat(30_000)}echo end`;
      assert.equal(text((await script(long)).output.stdout), 'end\n');
    }),
    check('tells an exit code from a signal', async () => {
      assert.equal((await script('exit 3')).exitCode, 3);
      const killed = await script('kill -SEGV $$');
      assert.deepEqual([killed.exitCode, killed.signal], [null, 'SIGSEGV']);
    }),
    check('answers 127 for a program that does not exist', async () => {
      const result = await run(['no-such-program-anywhere']);
      assert.equal(result.exitCode, 127);
      assert.match(text(result.output.stderr), /not found/);
    }),
    check('gives the bytes of stdin, and none without', async () => {
      const bytes = new Uint8Array([0, 255, 10, 65]);
      const result = await run(['cat'], { stdin: bytes });
      assert.deepEqual([...result.output.stdout.head], [...bytes]);
      assert.equal(text((await run(['cat'])).output.stdout), '');
    }),
    check('takes input while it runs, shows its output meanwhile, and tells whether it waits', async () => {
      let running: RunningCommand | undefined;
      const onStart = (started: RunningCommand) => {
        running = started;
      };
      const ended = script('read a; echo "got $a"; cat; echo end', { stdin: LIVE_INPUT, onStart });
      const shown = () => Buffer.from(running?.log.read(0, 1000) ?? []).toString();
      await until(() => running?.input?.isAwaited() === true);
      assert.equal(running?.input?.write('one\n'), true);
      await until(() => shown() === 'got one\n');
      running?.input?.write('two\n');
      await until(() => shown() === 'got one\ntwo\n');
      running?.input?.close();
      const result = await ended;
      assert.deepEqual([text(result.output.stdout), result.exitCode], ['got one\ntwo\nend\n', 0]);
      assert.equal(running?.input?.write('late'), false);
    }),
    check('ends although nobody reads or writes its input', async () => {
      let written: boolean | undefined;
      const result = await script('echo done', {
        stdin: LIVE_INPUT,
        onStart: ({ input }) => {
          written = input?.write('x'.repeat(1_000_000));
        },
      });
      assert.deepEqual([text(result.output.stdout), written], ['done\n', true]);
    }),
    check('passes on nothing of our environment, what the request gives, and the tag', async () => {
      const result = await run(['env'], { env: { GREETING: 'hello you' }, tag: 'call-7' });
      const shown = text(result.output.stdout);
      assert.ok(!shown.includes(subject.secret));
      assert.match(shown, /^GREETING=hello you$/m);
      assert.match(shown, /^TOOLWRIGHT_CALL=call-7$/m);
    }),
    check('starts in the workspace or a folder of it, and in no other', async () => {
      const workspace = subject.workspace();
      assert.equal(text((await script('pwd', { workspace })).output.stdout), `${workspace}\n`);
      mkdirSync(join(workspace, 'a/b'), { recursive: true });
      assert.equal(text((await script('pwd', { workspace, cwd: 'a/b' })).output.stdout), `${workspace}/a/b\n`);
      for (const cwd of ['..', '/usr', 'a/../..', 'missing']) {
        const request: RunRequest = { command: ['true'], workspace, cwd, mounts: 'read', tag: 'contract' };
        const result = await sandbox.run(request);
        assert.equal(result.ok ? 'ran' : result.error.code, 'INVALID_PATH', cwd);
      }
    }),
    check('refuses a request that cannot run', async () => {
      const request: RunRequest = {
        command: ['true'],
        workspace: subject.workspace(),
        mounts: 'read',
        tag: 'contract',
      };
      for (const wrong of [
        { command: [] },
        { command: ['a\0b'] },
        { env: { 'A=B': 'c' } },
        { limits: { timeMs: -1 } },
      ]) {
        const result = await sandbox.run({ ...request, ...wrong });
        assert.equal(result.ok ? 'ran' : result.error.code, 'INVALID_INPUT');
      }
      const gone = await sandbox.run({ ...request, workspace: '/no/such/folder' });
      assert.equal(gone.ok ? 'ran' : gone.error.code, 'INVALID_PATH');
    }),
    check('keeps stdout and stderr apart, and both in order in the log', async () => {
      let running: RunningCommand | undefined;
      const onStart = (started: RunningCommand) => {
        running = started;
      };
      // Each line waits until the one before it has arrived: two pipes have no order but the one they are read in.
      const lines = 'for i in 1 2 3; do echo out$i; read; echo err$i >&2; read; done';
      const ended = script(lines, { stdin: LIVE_INPUT, onStart });
      for (const bytes of [5, 10, 15, 20, 25, 30]) {
        await until(() => running?.log.totalBytes === bytes);
        running?.input?.write('\n');
      }
      const { output } = await ended;
      assert.equal(text(output.stdout), 'out1\nout2\nout3\n');
      assert.equal(text(output.stderr), 'err1\nerr2\nerr3\n');
      const whole = Buffer.from(output.log.read(0, 1000)).toString();
      assert.equal(whole, 'out1\nerr1\nout2\nerr2\nout3\nerr3\n');
      assert.equal(Buffer.from(output.log.read(0, 1000, 'stderr')).toString(), 'err1\nerr2\nerr3\n');
      assert.equal(Buffer.from(output.log.read(5, 5)).toString(), 'err1\n');
      output.log.dispose();
    }),
    check('lets a script open /dev/stdout and /dev/stderr', async () => {
      const { output } = await script('echo a >/dev/stdout; echo b >/dev/stderr; echo c | tee /dev/stderr');
      assert.equal(text(output.stdout), 'a\nc\n');
      assert.equal(text(output.stderr), 'b\nc\n');
    }),
    check('keeps head, tail, count and a capped log of a long output', async () => {
      const limits = { keepBytes: 1_000_000 };
      const { output, exitCode } = await script('seq 1 1000000', { limits });
      assert.equal(exitCode, 0);
      assert.equal(output.stdout.totalBytes, 6_888_896);
      assert.match(Buffer.from(output.stdout.head).toString(), /^1\n2\n3\n/);
      assert.match(Buffer.from(output.stdout.tail).toString(), /\n999999\n1000000\n$/);
      assert.deepEqual([output.log.keptBytes, output.log.totalBytes], [1_000_000, 6_888_896]);
      assert.equal(Buffer.from(output.log.read(999_990, 100)).length, 10);
      assert.equal(Buffer.from(output.log.read(6_888, 10)).toString().length, 10);
      output.log.dispose();
    }),
    check('sends live output in few events that fit the log', async () => {
      const chunks: { offset: number; text: string }[] = [];
      const { output } = await script('echo a; sleep 0.2; echo b; seq 1 200000', {
        onOutput: ({ offset, bytes }) => chunks.push({ offset, text: Buffer.from(bytes).toString() }),
      });
      assert.ok(chunks.length >= 2 && chunks.length < 100, `${chunks.length} events`);
      assert.equal(chunks[0]?.text, 'a\n');
      for (const chunk of chunks) {
        const logged = Buffer.from(output.log.read(chunk.offset, Buffer.byteLength(chunk.text))).toString();
        assert.equal(logged, chunk.text);
      }
      output.log.dispose();
    }),
    check('tells an exit code from a signal of the same number', async () => {
      const ends = [];
      for (const command of ['exit 137', 'kill -KILL $$', 'exit 143', 'kill -TERM $$', 'kill -SEGV $$']) {
        const { exitCode, signal, output } = await run(['/bin/sh', '-c', command]);
        output.log.dispose();
        ends.push(exitCode ?? signal);
      }
      assert.deepEqual(ends, [137, 'SIGKILL', 143, 'SIGTERM', 'SIGSEGV']);
    }),
    check('ends a run at its time limit and keeps what it printed', async () => {
      const result = await script('echo before; sleep 30', { limits: { timeMs: 300 } });
      assert.equal(result.endedBy, 'time');
      assert.match(result.endMessage ?? '', /0\.3 s, its time limit/);
      assert.equal(text(result.output.stdout), 'before\n');
      assert.ok(result.durationMs < 10_000);
    }),
    check('kills a run that ignores the request to end', async () => {
      const stubborn = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
      const result = await script(stubborn, { limits: { timeMs: 300, graceMs: 200 } });
      assert.equal(result.endedBy, 'time');
      assert.ok(result.durationMs < 10_000);
    }),
    check('lets a run tidy up when it is asked to end', async () => {
      // Both the group and its processes are asked: a shell may hear it twice.
      const result = await script("trap 'trap : TERM; echo tidied; exit 0' TERM; while :; do sleep 0.05; done", {
        limits: { timeMs: 400 },
      });
      assert.deepEqual([result.endedBy, text(result.output.stdout)], ['time', 'tidied\n']);
    }),
    check('ends a run when its signal aborts, and does not start it when it already has', async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 200);
      const result = await script('sleep 30', { signal: controller.signal });
      assert.equal(result.endedBy, 'cancel');
      const workspace = subject.workspace();
      const command = { script: 'touch ran' };
      const base = { command, workspace, tag: 'c', signal: controller.signal };
      const never = await sandbox.run({ ...base, ...(await writing(sandbox)) });
      assert.equal(never.ok ? 'ran' : never.error.code, 'CANCELLED');
      assert.deepEqual(readdirSync(workspace), []);
    }),
    check('leaves no process behind, also after setsid and a double fork', async () => {
      const tag = `left-${process.pid}-${Date.now()}`;
      const result = await script(
        'setsid sh -c "sleep 300 & sleep 300" >/dev/null 2>&1 & (sleep 300 &) & disown -a; echo done',
        { tag },
      );
      assert.equal(text(result.output.stdout), 'done\n');
      assert.ok(result.durationMs < 10_000);
      assert.deepEqual(processesTagged(tag), []);
    }),
    check('ends the whole tree at a limit', async () => {
      const tag = `tree-${process.pid}-${Date.now()}`;
      await script('setsid sleep 300 & (setsid sleep 300 &); sleep 300', { tag, limits: { timeMs: 300 } });
      assert.deepEqual(processesTagged(tag), []);
    }),
    check('ends a run that prints too much', async () => {
      const result = await script('yes', { limits: { outputBytes: 5_000_000 } });
      assert.equal(result.endedBy, 'output');
      assert.match(result.endMessage ?? '', /printed more than 4\.8 MB/);
      result.output.log.dispose();
    }),
    check('ends a run that takes too much memory', async () => {
      const hungry = 'a=x; while :; do a="$a$a$a$a"; done';
      const result = await script(hungry, { limits: { memoryBytes: 100 * 1024 * 1024, timeMs: 30_000 } });
      assert.notEqual(result.endedBy, 'time');
      assert.notEqual(result.exitCode, 0);
    }),
    check('ends a run that starts too many processes', async () => {
      const result = await script('while :; do sleep 100 & done', { limits: { processes: 50, timeMs: 30_000 } });
      assert.equal(result.endedBy, 'processes');
      assert.match(result.endMessage ?? '', /50 processes/);
    }),
    check('ends a run that computes too much', async () => {
      const result = await script('while :; do :; done', { limits: { cpuMs: 500, timeMs: 30_000 } });
      assert.equal(result.endedBy, 'cpu');
    }),
    check('runs more at once than there are places', async () => {
      const results = await Promise.all(Array.from({ length: 60 }, (_, i) => run(['printf', '%s', String(i)])));
      assert.deepEqual(
        results.map(({ output }) => text(output.stdout)),
        results.map((_, i) => String(i)),
      );
    }),
    check('says which sandbox it was, and that there was none if there was none', async () => {
      const result = await run(['true']);
      const status = await sandbox.status();
      assert.equal(result.sandbox, sandbox.kind);
      assert.ok(status.ok);
      assert.equal(
        result.notes.some((note) => note.includes('without a sandbox')),
        !status.value.isolated,
      );
      assert.equal(DEFAULT_LIMITS.processes <= 512, true);
    }),
  ];
}

/** How a run of this sandbox may write: to a new stage, or to the real files where nothing is staged. */
async function writing(sandbox: Sandbox): Promise<Pick<RunRequest, 'mounts' | 'stage'>> {
  const status = await sandbox.status();
  assert.ok(status.ok, status.ok ? '' : status.error.message);
  const { folder } = status.value.stages;
  return folder === null
    ? { mounts: 'live' }
    : { mounts: 'staged', stage: { folder: mkdtempSync(join(folder, 'contract-')) } };
}

export function sandboxModesCheck({ sandbox, workspace: make }: SandboxSubject): SandboxCheck {
  return {
    title: 'has the modes that it says, and refuses the others',
    async run() {
      const status = await sandbox.status();
      assert.ok(status.ok);
      const workspace = make();
      const { folder } = status.value.stages;
      const request: RunRequest = { command: ['true'], workspace, mounts: 'staged', tag: 'contract' };
      const wrong: Partial<RunRequest>[] =
        folder === null
          ? [{ stage: { folder: workspace } }]
          : [{}, { mounts: 'live' }, { stage: { folder: workspace } }, { stage: { folder: join(folder, 'missing') } }];
      for (const each of wrong) {
        const result = await sandbox.run({ ...request, ...each });
        assert.equal(result.ok ? 'ran' : result.error.code, 'INVALID_INPUT');
      }
      if (folder !== null) return;
      const compared = await sandbox.compare({ workspace, stage: { folder: workspace } });
      assert.equal(compared.ok ? 'compared' : compared.error.code, 'INVALID_INPUT');
    },
  };
}

/** Runs last, since it closes the sandbox: running commands end, and new ones are refused. */
export function sandboxCloseCheck(subject: SandboxSubject): SandboxCheck {
  return {
    title: 'ends what runs when it is closed, and refuses what comes later',
    async run() {
      const request: RunRequest = {
        command: ['sleep', '300'],
        workspace: subject.workspace(),
        mounts: 'read',
        tag: 'close',
      };
      const long = subject.sandbox.run(request);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await subject.sandbox.close();
      const ended = await long;
      assert.equal(ended.ok && ended.value.endedBy, 'closed');
      const late = await subject.sandbox.run(request);
      assert.equal(late.ok ? 'ran' : late.error.code, 'SANDBOX_UNAVAILABLE');
    },
  };
}

/** Processes on this machine that carry the tag of a run. */
export function processesTagged(tag: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => (readText(`/proc/${pid}/environ`) ?? '').split('\0').includes(`TOOLWRIGHT_CALL=${tag}`));
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline, 'it did not come true in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function text(captured: RunResult['output']['stdout']): string {
  return Buffer.concat([captured.head, captured.tail]).toString();
}
