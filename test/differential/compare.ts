import { basename } from 'node:path';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { judgeCommand } from '../../src/policy/commands/judge-command.ts';
import { parseScript } from '../../src/shell/parse-script.ts';
import { programName } from '../../src/shell/program-name.ts';
import { generateCommands } from './generate-commands.ts';
import type { Touched } from './parse-trace.ts';
import { openTracedSandbox, type TracedSandbox } from './traced-sandbox.ts';

export interface Differential {
  readonly generated: number;
  /** How many of them needed no approval and were run. */
  readonly ran: number;
  /** Actions that the policy had not predicted. */
  readonly surprises: readonly string[];
}

const BATCH = 60;

/** Generates commands, runs those that need no approval, and compares their actions with the policy's prediction. */
export async function compareWithReality(given: { count: number; seed: number; path: string }): Promise<Differential> {
  await using sandbox = await openTracedSandbox(given.path);
  const commands = [...new Set(generateCommands(given.count, given.seed))];
  const unasked = commands.filter((command) => namesIn(command, sandbox) !== undefined);
  const surprises: string[] = [];
  for (let at = 0; at < unasked.length; at += BATCH) {
    const batch = unasked.slice(at, at + BATCH);
    const touched = await sandbox.trace(batch);
    surprises.push(...batch.flatMap((command, index) => surprisesOf(command, touched[index] ?? [], sandbox)));
  }
  return { generated: given.count, ran: unasked.length, surprises };
}

/** Returns the programs that the policy saw in a command that needs no approval; undefined for other commands. */
function namesIn(command: string, { root, home }: TracedSandbox): Set<string> | undefined {
  const { verdict, readOnly, parts } = judgeCommand(command, { root, home, files: createFilePolicy() });
  if (verdict !== 'allow' || !readOnly) return undefined;
  return new Set(
    parts.flatMap(({ text }) => parseScript(text).commands.map(({ words }) => programName(words[0]?.value ?? ''))),
  );
}

/** Compares with the policy's prediction: these programs, no writes, no secrets, nothing outside the workspace. */
export function surprisesOf(command: string, touched: readonly Touched[], sandbox: TracedSandbox): string[] {
  const names = namesIn(command, sandbox) ?? new Set<string>();
  return touched
    .filter((one) => !isExpected(one, names, sandbox.root))
    .map(({ kind, path, line }) => `${JSON.stringify(command)} ${kind} ${path}: ${line.slice(0, 200)}`);
}

/** Wrappers that the policy sees through, and what the sandbox itself starts. */
const WRAPPERS = new Set('env nohup nice ionice timeout stdbuf time xargs bash sh dash setsid'.split(' '));
/** Programs that are scripts, or that have helpers: what they start in their turn. */
const HELPERS: Readonly<Record<string, RegExp>> = {
  git: /^(git|git-[\w-]+|cat)$/,
  zcat: /^(gzip|sh|bash)$/,
  egrep: /^(grep|sh|bash)$/,
  fgrep: /^(grep|sh|bash)$/,
  which: /^(sh|bash)$/,
  locale: /^(sh|bash|gzip)$/,
};

/** Programs that put what does not fit into memory aside, in a /tmp of their own. */
const SCRATCH: Readonly<Record<string, RegExp>> = { tac: /^\/tmp\/tac\w{6}$/, sort: /^\/tmp\/sort\w{6}$/ };

function isExpected({ kind, path, worked }: Touched, names: ReadonlySet<string>, root: string): boolean {
  switch (kind) {
    case 'ran':
      return !worked || isKnownProgram(path, names);
    case 'read':
      return isReadable(path, root, worked) || (names.has('ps') && /^\/proc\/\d+\/environ$/.test(path));
    case 'wrote':
      // git would like to note what it has learned of the files, and does without.
      if (!worked && names.has('git') && path === `${root}/.git/index.lock`) return true;
      if ([...names].some((name) => SCRATCH[name]?.test(path))) return true;
      return /^\/dev\/(null|tty|stdout|stderr|fd\/\d+|pts\/\d+)$|^\/proc\/self\//.test(path);
    case 'connected':
      return false;
  }
}

function isKnownProgram(path: string, names: ReadonlySet<string>): boolean {
  if (!/^\/(usr\/)?(local\/)?(s?bin|lib\/git-core|libexec\/git-core)\//.test(path)) return false;
  const name = basename(path);
  return names.has(name) || WRAPPERS.has(name) || [...names].some((known) => HELPERS[known]?.test(name));
}

const SYSTEM = /^\/(usr|lib|lib64|bin|sbin|etc|proc|sys|dev|run|var)(\/|$)|^\/$|^\/(home|tmp)(\/|$)/;
const PRIVATE = /^\/proc\/(\d+|self)\/(environ|mem|root|cwd)|^\/etc\/(shadow|gshadow|ssh\/)/;

/** A search may come across a hidden file, and finds it closed. */
function isReadable(path: string, root: string, worked: boolean): boolean {
  if (path === root || path.startsWith(`${root}/`)) {
    return !worked || createFilePolicy().judge(path.slice(root.length + 1)).access !== 'hidden';
  }
  return SYSTEM.test(path) && !PRIVATE.test(path);
}
