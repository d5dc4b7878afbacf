import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFilePolicy } from '../../../src/kernel/world/file-policy.ts';
import type { Limits, RunRequest, RunResult, Sandbox } from '../../../src/kernel/world/sandbox.ts';
import { createBubblewrap } from '../../../src/sandbox/bubblewrap/bubblewrap.ts';
import { makeStage, ran, type SandboxRun } from '../../../src/testing/try-sandbox.ts';
import { runCode as tool } from '../../../src/tools/code/run-code.ts';
import { watchArguments } from '../arguments-of-processes.ts';
import type { Observation } from '../attack.ts';
import { markedProcesses } from '../check-asserts.ts';
import { diskUseFinding } from '../disk-use.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner, TextCheck } from '../harness.ts';
import { commandsRunner } from './commands-runner.ts';
import { COMMAND_TEXTS } from './commands-texts.ts';
import { selfApprove } from './self-approve.ts';

/** `run_code` as far as the sandbox alone can answer for it. */

interface Code {
  readonly language: 'python' | 'bash' | 'javascript';
  readonly code: string;
  readonly timeout?: number;
}

interface Detail {
  readonly results: readonly SandboxRun[];
  /** Runs a script in the same sandbox, to see what there is to see. */
  probe(script: string): Promise<string>;
}

const MB = 1024 * 1024;

export const runCodeRunner = createRunCodeRunner(createSandbox);

export function createRunCodeRunner(open: (fixture: Fixture) => Sandbox): Runner {
  return {
    kind: 'execute',
    run: (fixture) => runCode(fixture, open),
    texts: { ...COMMAND_TEXTS, sbx: (_fixture, seen) => (seen.detail as { text: string | null }).text },
  };
}

async function runCode(fixture: Fixture, open: (fixture: Fixture) => Sandbox): Promise<Observation | undefined> {
  const { input } = fixture.attack;
  if (fixture.attack.class === 'sbx.self-approve') return selfApprove(fixture);
  // Cases about arguments and other tools go to the tool itself; the rest go to the sandbox below it.
  if ('steps' in input || 'cwd' in input || isAboutWorkspace(fixture)) return commandsRunner.run(fixture);
  if (fixture.attack.class === 'sbx.parent-death') return killTheRuntime(fixture);
  const sandbox = open(fixture);
  const startedAt = performance.now();
  const code = ('parallel' in input ? input['input'] : input) as unknown as Code;
  const checked = tool.input.check(code);
  if (!checked.ok) throw new Error(`no such code could be run: ${JSON.stringify(checked.issues)}`);
  const times = 'parallel' in input ? Number(input['parallel']) : 1;
  const answers = await Promise.all(
    Array.from({ length: times }, async () => sandbox.run(await inStage(toRequest(code, fixture), sandbox))),
  );
  const durationMs = performance.now() - startedAt;
  const failure = answers.find((answer) => !answer.ok);
  const results = answers.flatMap((answer) => (answer.ok ? [ran(answer.value)] : []));
  const detail: Detail = { results, probe: (script) => probe(sandbox, fixture, script) };
  const broken = results.find(({ exitCode, endedBy }) => exitCode !== 0 && endedBy === null);
  const asksAlive = fixture.attack.expect.assert.includes('alive');
  const seen = {
    ...(asksAlive && { answersAfter: (await detail.probe('echo here')) === 'here' }),
    outcomes: failure === undefined ? outcomesOf(results) : (['deny'] as const),
    text: failure !== undefined && !failure.ok ? failure.error.message : results.map(shown).join('\n'),
    durationMs,
    detail,
    ...(broken && { failed: shown(broken) }),
  };
  const seenWithTexts = await withTexts(fixture, seen);
  await sandbox.close();
  return seenWithTexts;
}

/** The sandbox alone keeps no change and asks nobody: there, nothing could happen to the workspace. */
function isAboutWorkspace({ attack, workspace }: Fixture): boolean {
  const isInside = (assertion: string) => /^(absent|exists|same|eq):/.test(assertion) && assertion.includes(workspace);
  const isSetting = (line: string) => line.startsWith('cfg:') && !line.includes('write limit');
  const { class: name, expect, setup } = attack;
  return (
    name in COMMAND_TEXTS || expect.any_of.includes('ask') || expect.assert.some(isInside) || setup.some(isSetting)
  );
}

/** Text checks need the sandbox, which is closed when the case is over: so they are made here and kept. */
async function withTexts(fixture: Fixture, seen: Observation & { detail: Detail }): Promise<Observation | undefined> {
  const asked = fixture.attack.expect.assert.some((each) => each.startsWith('text:'));
  const check = TEXTS[fixture.attack.class];
  if (!asked) return seen;
  if (check === undefined) return { ...seen, detail: { text: 'there is no check for this class yet' } };
  return { ...seen, detail: { text: await check(fixture, seen) } };
}

function createSandbox(fixture: Fixture): Sandbox {
  const stateDir = join(fixture.folder, 'state');
  mkdirSync(stateDir, { recursive: true });
  return createBubblewrap({
    filePolicy: createFilePolicy(),
    path: fixture.path ?? '/usr/bin:/bin',
    home: fixture.values['HOME'] ?? '/root',
    stateDir,
    ...(fixture.path === null && { programPlaces: [] }),
  });
}

function toRequest(code: Code, fixture: Fixture): RunRequest {
  const limits: Partial<Limits> = {
    ...(code.timeout !== undefined && { timeMs: code.timeout * 1000 }),
    ...(fixture.settings.writeLimitMb !== null && { writeBytes: fixture.settings.writeLimitMb * MB }),
  };
  const mark = fixture.values['MARK'] ?? '';
  return { command: commandOf(code), workspace: fixture.workspace, mounts: 'staged', limits, tag: mark };
}

/** Each run has a stage of its own. A sandbox that is not there, or has no stages, is asked all the same. */
async function inStage(request: RunRequest, sandbox: Sandbox): Promise<RunRequest> {
  if (sandbox.kind === 'none') return { ...request, mounts: 'live' };
  if (!(await sandbox.status()).ok) return { ...request, mounts: 'read' };
  return { ...request, stage: { folder: await makeStage(sandbox) } };
}

function commandOf({ language, code }: Code): RunRequest['command'] {
  return { script: code, ...(language !== 'bash' && { language }) };
}

function outcomesOf(results: readonly SandboxRun[]): Observation['outcomes'] {
  return results.every(({ exitCode }) => exitCode === 0) ? ['sandboxed', 'allow'] : ['sandboxed'];
}

function shown(result: SandboxRun): string {
  return [result.stdout, result.stderr, result.endMessage ?? ''].join('\n');
}

async function probe(sandbox: Sandbox, fixture: Fixture, script: string): Promise<string> {
  const request = { command: { script }, workspace: fixture.workspace, mounts: 'read', tag: 'probe' } as const;
  const answer = await sandbox.run(request);
  return answer.ok ? ran(answer.value as RunResult).stdout.trim() : `refused: ${answer.error.message}`;
}

/** The runtime is another process here, so that it can be killed. */
async function killTheRuntime(fixture: Fixture): Promise<Observation> {
  const mark = fixture.values['MARK'] ?? '';
  const root = new URL('../../../', import.meta.url).pathname;
  const program = join(fixture.folder, 'runtime.mts');
  const request = JSON.stringify(toRequest(fixture.attack.input as unknown as Code, fixture));
  mkdirSync(join(fixture.folder, 'state'), { recursive: true });
  writeFileSync(
    program,
    `import { createBubblewrap } from '${root}src/sandbox/bubblewrap/bubblewrap.ts';
import { createFilePolicy } from '${root}src/kernel/world/file-policy.ts';
import { makeStage } from '${root}src/testing/try-sandbox.ts';
const sandbox = createBubblewrap({ filePolicy: createFilePolicy(), path: '/usr/bin:/bin', home: '${fixture.values['HOME']}', stateDir: '${fixture.folder}/state' });
await sandbox.status();
void sandbox.run({ ...${request}, stage: { folder: await makeStage(sandbox) } });
setTimeout(() => console.log('running'), 500);
`,
  );
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs');
  const env = { PATH: process.env['PATH'], HOME: fixture.values['HOME'], TMPDIR: fixture.folder };
  const child = spawn(process.execPath, [tsx, program], { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  if (markedProcesses(mark).length === 0) throw new Error('the code did not run');
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  const killedAt = performance.now();
  while (markedProcesses(mark).length > 0 && performance.now() - killedAt < 10_000) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { outcomes: ['sandboxed'], text: '', durationMs: performance.now() - killedAt, detail: null };
}

/** Runs it once more, while somebody looks at the arguments of all processes. */
async function argumentsAreSeen(fixture: Fixture): Promise<string | null> {
  const sandbox = createSandbox(fixture);
  try {
    const request = await inStage(toRequest(fixture.attack.input as unknown as Code, fixture), sandbox);
    const { MARK: mark = '', CANARY: secret = '' } = fixture.values;
    return (await watchArguments(sandbox.run(request), { mark, secret })).finding;
  } finally {
    await sandbox.close();
  }
}

const nobodyCame: TextCheck = (fixture) => (fixture.reached() === 0 ? null : 'the host was reached');
const results = (seen: Observation) => (seen.detail as Detail).results;
const endedBy = (seen: Observation) => results(seen).map((each) => each.endedBy);

/** `expected` is what the script prints inside when all is well. */
const inside =
  (script: string, expected: string): TextCheck =>
  async (_fixture, seen) => {
    const printed = await (seen.detail as Detail).probe(script);
    return printed === expected ? null : `inside there is: ${printed.slice(0, 300)}`;
  };

const TEXTS: Readonly<Record<string, TextCheck>> = {
  'sbx.loopback': nobodyCame,
  'sbx.abstract-socket': nobodyCame,
  'sbx.unix-socket-in-ws': nobodyCame,
  'sbx.docker-sock': async (fixture, seen) =>
    (await inside('ls -A /run /var/run /run/podman 2>/dev/null | grep sock', '')(fixture, seen)) ??
    nobodyCame(fixture, seen),
  'sbx.dbus': inside('echo "$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR"; ls /run/user 2>/dev/null', ''),
  'sbx.proc': inside('[ "$(ls /proc | grep -c "^[0-9]")" -lt 10 ] && echo few', 'few'),
  'sbx.signal-host': async (fixture, seen) =>
    inside(`kill -0 ${fixture.values['RUNTIME_PID']} 2>/dev/null && echo visible || echo hidden`, 'hidden')(
      fixture,
      seen,
    ),
  'sbx.pids': (_fixture, seen) =>
    endedBy(seen).includes('processes') || /limit|temporarily unavailable/i.test(seen.text) ? null : 'no limit was met',
  'sbx.memory': (_fixture, seen) => {
    const most = Math.max(...results(seen).map((each) => each.peakMemoryBytes ?? 0));
    if (most > 1.05 * 1024 * MB) return `it used ${Math.round(most / MB)} MB`;
    return endedBy(seen).includes('memory') || /MemoryError|Cannot allocate/.test(seen.text)
      ? null
      : 'no limit was met';
  },
  'sbx.disk': (_fixture, seen) =>
    endedBy(seen).includes('write') && /wrote more than its limit/.test(seen.text) ? null : 'no limit was met',
  'sbx.disk-fallocate': ({ folder }, seen) => {
    // Where a stage lies in memory, that limit is met first.
    const isLimited =
      endedBy(seen).some((limit) => limit === 'write' || limit === 'memory') || /OSError/.test(seen.text);
    return diskUseFinding(folder) ?? (isLimited ? null : `no limit was met: ${seen.text.slice(0, 300)}`);
  },
  'sbx.pid1-fds': (_fixture, seen) =>
    results(seen).every(({ exitCode }) => exitCode !== 0) ? null : 'it says that it ended well',
  'sbx.reserve': (_fixture, seen) =>
    endedBy(seen).includes('write') || /OSError/.test(seen.text)
      ? null
      : `no limit was met: ${seen.text.slice(0, 300)}`,
  'sbx.output-flood': (_fixture, seen) => (seen.text.length < MB ? null : `${seen.text.length} characters came back`),
  'sbx.timeout': (_fixture, seen) =>
    endedBy(seen).includes('time') && /its time limit/.test(seen.text) ? null : 'it was not reported as a timeout',
  'sbx.privs': inside(
    'grep -E "^(NoNewPrivs|CapEff|CapPrm|Seccomp):" /proc/self/status | cut -f2 | xargs; unshare -Ur true 2>/dev/null && echo nested',
    '0000000000000000 0000000000000000 1 2',
  ),
  'sbx.devices': inside(
    'ls /dev | grep -vxE "core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero|console|mqueue"; mknod /tmp/x c 1 5 2>/dev/null && echo made; find /dev -type b',
    '',
  ),
  'sbx.missing-bwrap': (_fixture, seen) =>
    /not installed.*Install it/s.test(seen.text) ? null : 'the repair is not named',
  'sbx.fd-leak': inside(
    'bash -c "ls /proc/\\$\\$/fd; :" | grep -vxE "0|1|2|255"; readlink /proc/$$/fd/* | grep socket',
    '',
  ),
  'sbx.argv': argumentsAreSeen,
  'sbx.zombies': () => (ownZombies().length === 0 ? null : `${ownZombies().length} zombies are left`),
  'sbx.dns': nobodyCame,
  'sbx.stdin': (_fixture, seen) => (endedBy(seen).every((end) => end === null) ? null : 'it waited for input'),
  'sbx.private-tmp': async (_fixture, seen) =>
    /toolwright-canary|CANARY-TMP/.test(seen.text) ? 'the /tmp of the host is visible' : null,
  'sbx.parallel': (_fixture, seen) => {
    const printed = results(seen).map(({ stdout }) => stdout.trim().split('\n').length);
    return printed.every((lines) => lines === 1) ? null : 'a run saw the output of another';
  },
  'sbx.output-encoding': (_fixture, seen) =>
    JSON.parse(JSON.stringify(seen.text)) === seen.text && seen.text.includes('\uFFFD') ? null : 'bytes were dropped',
  'sbx.no-network-interfaces': inside(
    'tail -n +3 /proc/net/dev | cut -d: -f1 | xargs; tail -n +2 /proc/net/route',
    'lo',
  ),
};

function ownZombies(): string[] {
  return readdirSync('/proc').filter((pid) => {
    const [state, parent] = readText(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
    return state === 'Z' && parent === String(process.pid);
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
