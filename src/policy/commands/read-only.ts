import { type ParsedFlags, parseFlags } from './flags.ts';
import { gitCommand } from './git.ts';
import { READ_ONLY_COMMANDS, type ReadOnlyCommand } from './read-only-commands.ts';
import type { ReadOnlyAnswer, ReadOnlyUse } from './read-only-use.ts';
import type { ShellWord } from './shell-words.ts';

const VERSION_FLAGS = new Set(['--version', '-V', '-v', '-version', 'version', '--help', '-h']);
const VERSIONED = new Set(
  'node npm npx pnpm yarn bun deno python python3 pip pip3 uv cargo rustc rustup go java javac mvn gradle gcc g++ cc clang make cmake ninja docker git tsc ruby gem perl php composer psql sqlite3 kubectl helm terraform'.split(
    ' ',
  ),
);

/** Whether a command only reads, with these arguments. `name` has no slash: a path could be anything. */
export function readOnlyUse(name: string, args: readonly ShellWord[]): ReadOnlyAnswer {
  const [only, ...more] = args;
  if (VERSIONED.has(name) && more.length === 0 && VERSION_FLAGS.has(only?.value ?? '')) return NOTHING;
  if (name === 'git') return gitCommand(args);
  if (name === 'command' && /^-[vV]$/.test(only?.value ?? '')) return NOTHING;
  if (name === 'env' && args.length === 0) return NOTHING;
  if (name === 'printenv') return NOTHING;
  const command = Object.hasOwn(READ_ONLY_COMMANDS, name) ? READ_ONLY_COMMANDS[name] : undefined;
  if (command === undefined) return { why: `${name} is not known to only read` };
  const flags = parseFlags(args, command);
  if ('unknown' in flags) return { why: `${name} ${flags.unknown} is not known to only read` };
  if (command.operands === 'none' && flags.operands.length > 0) return { why: `${name} takes no operand that we know` };
  const refused = command.refuse?.(flags);
  return refused === undefined ? use(command, flags) : { why: refused };
}

const NOTHING: ReadOnlyUse = { content: [], named: [] };

function use(command: ReadOnlyCommand, flags: ParsedFlags): ReadOnlyUse {
  const { roams = [] } = command;
  const found = roams === true || flags.options.some(({ name }) => roams.includes(name));
  return { ...filesOf(command, flags), roams: found };
}

function filesOf({ operands: kind, files = [] }: ReadOnlyCommand, { options, operands }: ParsedFlags): ReadOnlyUse {
  const given = options.flatMap(({ name, value }) => (files.includes(name) && value !== undefined ? [value] : []));
  if (kind === 'content') return { content: [...given, ...operands], named: [] };
  if (kind === 'named') return { content: given, named: operands };
  if (kind !== 'pattern') return { content: given, named: [] };
  const patternGiven = options.some(({ name }) => PATTERN_OPTIONS.has(name));
  return { content: [...given, ...operands.filter((word, at) => at > 0 || patternGiven || word.pattern)], named: [] };
}

const PATTERN_OPTIONS = new Set(['-e', '--regexp', '-f', '--file', '--expression', '--files']);
