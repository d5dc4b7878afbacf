import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecutionContext } from '../src/kernel/call/execution-context.ts';
import { KEEPING_TOOL } from '../src/kernel/tool/kept-changes.ts';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import { createPolicy } from '../src/policy/create-policy.ts';
import type { Mode } from '../src/policy/mode.ts';
import { commandWorkspace } from '../src/testing/command-workspace.ts';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';
import { BY_HAND, makeProject, NEEDS_CLEAN } from './programs/commands.project.ts';

/** Another parser of the shell, which only parses. */
const { syntax } = createRequire(import.meta.url)('mvdan-sh');

const commands = readFileSync(new URL('developer-commands.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const ROUNDS = 20;

export const benchmark: Benchmark = {
  about: `${commands.length} ordinary developer commands: how many are asked about in words or by their effect, and how long it takes to judge them.`,
  async run() {
    return [...questions(), ...(await effects()), ...times(), ...lengths()];
  },
};

const context = new ExecutionContext({ workingDir: '/home/ana/project' });

function judge(mode: Mode) {
  const policy = createPolicy({ mode, rules: [], files: createFilePolicy(), home: '/home/ana' });
  return (command: string) =>
    policy.decide({
      tool: 'bash',
      args: { command },
      access: [{ kind: 'process.run', command, writes: 'stage' }],
      effect: 'once',
      ownReason: undefined,
      asksAlways: false,
      context,
    }).verdict;
}

function questions(): Measurement[] {
  const share = (mode: Mode, verdict: string) =>
    (100 * commands.map(judge(mode)).filter((each) => each === verdict).length) / commands.length;
  return [
    atMost('refused in mode auto', share('auto', 'deny'), '%', 0),
    atMost('asked about in mode auto', share('auto', 'ask'), '%', 10),
    atMost('refused in mode ask', share('ask', 'deny'), '%', 0),
    atMost(`of ${commands.length}, asked about in words in mode ask`, inWords().length, 'commands', 25),
  ];
}

function inWords(): string[] {
  const decide = judge('ask');
  return commands.filter((command) => decide(command) === 'ask');
}

/** Runs all that is not asked about in words, in mode ask, in a project; nobody keeps what is asked about. */
async function effects(): Promise<Measurement[]> {
  const words = new Set(inWords());
  const asked: string[] = [];
  const byHand: string[] = [];
  const failed: string[] = [];
  for (const state of ['changed', 'clean'] as const) {
    const run = commands.filter((each) => !words.has(each) && NEEDS_CLEAN.test(each) === (state === 'clean'));
    await using project = await openProject(state);
    for (const command of run) {
      const { isHere, isAsked, exitCode } = await project.run(command);
      if (!isHere) byHand.push(command);
      else if (exitCode !== 0) failed.push(command);
      if (isAsked) asked.push(command);
    }
  }
  console.error(
    `Shown as a diff: ${asked.join(' · ')}\nJudged by hand: ${byHand.join(' · ')}\nFailed: ${failed.join(' · ')}`,
  );
  return [
    atMost(`of ${commands.length}, shown as a diff in mode ask`, asked.length, 'commands', 45),
    reported(
      'of those that are not asked about in words, judged by hand: what they need is not here',
      byHand.length,
      'commands',
    ),
    reported('of those that ran, with another exit code than 0', failed.length, 'commands'),
  ];
}

interface CommandEnd {
  readonly isHere: boolean;
  readonly isAsked: boolean;
  readonly exitCode: number | undefined;
}

async function openProject(state: 'clean' | 'changed') {
  const pristine = mkdtempSync(join(tmpdir(), 'bench-commands-'));
  makeProject(pristine, state);
  let isAsked = false;
  const approver = ({ tool }: { readonly tool: string }) => {
    isAsked ||= tool === KEEPING_TOOL;
    return { approved: false };
  };
  const ws = await commandWorkspace({ path: process.env['PATH'] ?? '', options: { approver } });
  copyInto(pristine, ws.root);
  return {
    async run(command: string): Promise<CommandEnd> {
      isAsked = false;
      const judged = BY_HAND[command];
      if (judged !== undefined && command.includes('npx'))
        return { isHere: false, isAsked: judged, exitCode: undefined };
      const ran = await ws.call('bash', { command, timeout: 60 });
      const { exitCode, changed } = (ran.value ?? {}) as { exitCode?: number; changed?: object | null };
      if (changed != null && !isAsked) copyInto(pristine, ws.root);
      if (exitCode === 0 || (exitCode !== 127 && judged === undefined)) return { isHere: true, isAsked, exitCode };
      if (judged === undefined)
        throw new Error(`${command} cannot run here, and BY_HAND does not say what it changes.`);
      return { isHere: false, isAsked: judged, exitCode };
    },
    async [Symbol.asyncDispose]() {
      await ws[Symbol.asyncDispose]();
      rmSync(pristine, { recursive: true, force: true });
    },
  };
}

/** The folder itself stays: the workspace is open by it. */
function copyInto(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  // Else `git diff` would write down that all files were copied.
  execFileSync('git', ['update-index', '-q', '--refresh'], { cwd: to });
}

/** Each command's own median first: what other programs of the machine take away is not the parser's. */
function times(): Measurement[] {
  const decide = judge('ask');
  const parser = syntax.NewParser();
  const each = commands.map((command) => {
    const rounds = Array.from({ length: ROUNDS }, () => [
      time(() => decide(command)),
      time(() => parser.Parse(command, '')),
    ]);
    return { ours: median(rounds.map(([ours]) => ours ?? 0)), peer: median(rounds.map(([, peer]) => peer ?? 0)) };
  });
  const [ours, peer] = [each.map((one) => one.ours), each.map((one) => one.peer)];
  return [
    atMost('judging one command, 99th percentile', percentile(ours, 0.99), 'ms', 2),
    reported('judging one command, median, against only parsing it with mvdan-sh', median(ours), 'ms', median(peer)),
  ];
}

const LONGEST = 100_000;

/** Shapes of commands that took long in some reader, repeated up to the longest command that is judged. */
const SHAPES: Readonly<Record<string, readonly [front: string, repeated: string]>> = {
  'many commands': ['', 'ls -la src; '],
  'one long word': ['echo ', 'a'],
  'many words': ['rm -rf ', 'a '],
  'many quotes': ['echo ', `"a'b" `],
  'many braces': ['echo ', '{a,b}'],
  'many substitutions': ['echo ', '$(pwd) '],
  'substitutions in each other': ['echo ', '$(echo '],
  'many folders': ['', 'cd a; '],
  'many assignments': ['', 'a=b; '],
  'many heredocs': ['', '<<E '],
  'one heredoc': ['cat <<E\n', 'ls a\n'],
  'many redirections': ['ls ', '>a '],
  'many patterns': ['ls ', '[a]* '],
  'a long pipeline': ['cat a', '|cat'],
  'launchers in launchers': ['', 'sudo '],
  'options of git': ['git ', '-c a=b '],
  'a program behind every option': ['npx ', '-p a '],
};

/** The least of several rounds, in processor time: what other programs of the machine take away is not the judgement's. */
function lengths(): Measurement[] {
  const decide = judge('ask');
  const results = Object.entries(SHAPES).map(([name, [front, repeated]]) => {
    const command = front + repeated.repeat((LONGEST - front.length) / repeated.length);
    const ms = Math.min(...Array.from({ length: 9 }, () => cpuTime(() => decide(command))));
    return atMost(`${name}, 100,000 characters`, ms, 'ms', 50);
  });
  const tooLong = `echo ${'a'.repeat(LONGEST)}`;
  return [
    ...results,
    atMost(
      'above 100,000 characters, where it is not read',
      time(() => decide(tooLong)),
      'ms',
      2,
    ),
  ];
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function cpuTime(work: () => unknown): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
