import { openedValues, type ParsedFlags, parseFlags } from '../../../shell/flags.ts';
import type { ShellWord } from '../../../shell/words.ts';
import { READ_ONLY_COMMANDS, type ReadOnlyCommand } from './read-only-commands.ts';
import { gitCommand } from './read-only-git.ts';
import type { ReadOnlyAnswer, ReadOnlyUse } from './read-only-use.ts';
import { isChosenByProject, saysItsVersion } from './version-flags.ts';

/** Whether a command only reads, with these arguments. `name` has no slash: a path could be anything. */
export function readOnlyUse(name: string, args: readonly ShellWord[]): ReadOnlyAnswer {
  const [only, ...more] = args;
  if (more.length === 0 && saysItsVersion(name, only?.value ?? ''))
    return { ...NOTHING, roams: isChosenByProject(name) };
  if (name === 'git') return gitCommand(args);
  if (name === 'command' && /^-[vV]$/.test(only?.value ?? '')) return NOTHING;
  if (name === 'env' && args.length === 0) return NOTHING;
  if (name === 'printenv') return NOTHING;
  const command = Object.hasOwn(READ_ONLY_COMMANDS, name) ? READ_ONLY_COMMANDS[name] : undefined;
  if (command === undefined) return { why: `${name} can change files` };
  const flags = parseFlags(args, command);
  if ('unknown' in flags) return { why: `${name} ${flags.unknown} can change files` };
  if (command.operands === 'none' && flags.operands.length > 0) return { why: `${name} has unknown operands` };
  const refused = command.refuse?.(flags);
  return refused === undefined ? use(command, flags) : { why: refused };
}

const NOTHING: ReadOnlyUse = { content: [], named: [] };

function use(command: ReadOnlyCommand, flags: ParsedFlags): ReadOnlyUse {
  const { roams = [] } = command;
  const found = roams === true || flags.options.some(({ name }) => roams.includes(name));
  return { ...filesOf(command, flags), roams: found };
}

function filesOf({ operands: kind, files = [], otherwise = [] }: ReadOnlyCommand, flags: ParsedFlags): ReadOnlyUse {
  const { options, operands } = flags;
  const named = options.flatMap(({ name, value }) => (files.includes(name) && value !== undefined ? [value] : []));
  const given = [...named, ...openedValues(flags)];
  if (kind === 'content') return { content: [...given, ...operands], named: [] };
  if (kind === 'named') return { content: given, named: operands.length === 0 ? otherwise : operands };
  if (kind !== 'pattern') return { content: given, named: [] };
  const patternGiven = options.some(({ name }) => PATTERN_OPTIONS.has(name));
  return {
    content: [...given, ...operands.filter((word, at) => at > 0 || patternGiven || word.pattern || word.later)],
    named: [],
  };
}

const PATTERN_OPTIONS = new Set(['-e', '--regexp', '-f', '--file', '--expression', '--files']);
