import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ExecutionContext } from '../src/kernel/call/execution-context.ts';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import { createPolicy } from '../src/policy/create-policy.ts';
import type { Mode } from '../src/policy/mode.ts';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';

/** Another parser of the shell, which only parses. */
const { syntax } = createRequire(import.meta.url)('mvdan-sh');

const commands = readFileSync(new URL('developer-commands.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const ROUNDS = 20;

export const benchmark: Benchmark = {
  about: `Judging ${commands.length} ordinary developer commands: how many are asked about, and how long it takes.`,
  async run() {
    return [...questions(), ...times(), ...lengths()];
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
    reported('asked about in mode ask', share('ask', 'ask'), '%'),
  ];
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

/** Ten times the length would take a hundred times as long if it were not linear; collecting garbage takes its share. */
function lengths(): Measurement[] {
  const decide = judge('ask');
  const shapes: Record<string, (size: number) => string> = {
    'many commands': (size) => 'ls -la src; '.repeat(size / 12),
    'one long word': (size) => `echo ${'a'.repeat(size - 5)}`,
    'many quotes': (size) => `echo ${`"a'b" `.repeat(size / 7)}`,
    'many substitutions': (size) => `echo ${'$(pwd) '.repeat(size / 7)}`,
    'many removals': (size) => 'X=a; rm -r $X; '.repeat(size / 15),
    'many folders': (size) => 'cd a; rm -r $X; '.repeat(size / 16),
    'a long pipeline': (size) => `cat a${' | sort'.repeat(size / 7)}`,
  };
  const results = Object.entries(shapes).map(([name, shape]) => {
    const [short, long] = [9_000, 90_000].map((size) => {
      const command = shape(size);
      return Math.min(...Array.from({ length: 9 }, () => cpuTime(() => decide(command))));
    }) as [number, number];
    return atMost(`${name}: 90,000 characters against 9,000`, long / short, '×', 30);
  });
  const tooLong = `echo ${'a'.repeat(100_000)}`;
  return [
    ...results,
    atMost(
      'above 100,000 characters, where it asks',
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
