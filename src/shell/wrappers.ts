import { isHarmlessVariable } from '../kernel/world/environment.ts';
import { commandsPerFile, commandsPerLine } from './find-xargs.ts';
import { parseFlags } from './flags.ts';
import { commandStart, isAssignment, PREFIXES, type Prefix } from './prefixes.ts';
import { evalScript, SHELLS, shellScript, trapScript } from './shells.ts';
import { isTrickyBuiltin } from './tricky-builtins.ts';
import { plainWord, type ShellWord } from './words.ts';
import { joined, unseen, type WrappedCommand } from './wrapped-command.ts';

/** The commands that this command runs, besides itself. Empty for a command that runs no other. */
export function innerCommands(name: string, args: readonly ShellWord[]): readonly WrappedCommand[] {
  if (SHELLS.has(name)) return shellScript(name, args);
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined;
  if (special !== undefined) return special(args);
  if (name === 'env') return withEnvironment(args);
  if (isTrickyBuiltin(name, args)) return [unseen('it runs text as code, or changes what words mean to the shell')];
  const prefix = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined;
  if (prefix !== undefined) return behind(name, args, prefix);
  const part = /(?:^|\/)git-([a-z-]+)$/.exec(name)?.[1];
  if (part !== undefined) return [{ kind: 'words', words: [plainWord('git'), plainWord(part), ...args] }];
  return name === 'parallel' ? [unseen('parallel runs what it reads')] : [];
}

const SPECIAL: Readonly<Record<string, (args: readonly ShellWord[]) => readonly WrappedCommand[]>> = {
  eval: evalScript,
  trap: trapScript,
  find: commandsPerFile,
  fd: commandsPerFile,
  fdfind: commandsPerFile,
  xargs: commandsPerLine,
};

function withEnvironment(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const env = PREFIXES['env'] as Prefix;
  const split = splitAt(args);
  const inner = split === -1 ? behind('env', args, env) : splitString(args.slice(split));
  const own = args.slice(0, split === -1 ? commandStart(args, env) : split + 1);
  if (!takesAway(own) || !inner.some(mayNeedVariables)) return inner;
  return [unseen('without variables that it takes away, programs of the project may run'), ...inner];
}

/** Whether a shell or git is among the words: any word may be the program that it starts in the end. */
function mayNeedVariables(inner: WrappedCommand): boolean {
  const words = inner.kind === 'words' ? inner.words : [];
  return words
    .map(({ value }) => value?.replace(/^.*\//s, '') ?? '')
    .some((name) => SHELLS.has(name) || name === 'git');
}

/** Whether variables are removed on which safety depends: a shell without PATH also looks in its own folder, and variables tell git what it must not start. */
function takesAway(own: readonly ShellWord[]): boolean {
  const all = own.some(({ seen }) => /^(?:-[0v]*i.*|-|--ignore-environment)$/s.test(seen));
  const some = own.some(({ seen }) => /^(?:-[0v]*u|--unset)/.test(seen));
  return all || (some && own.some(({ value }) => value === null || /PATH|GIT_/.test(value)));
}

function behind(name: string, args: readonly ShellWord[], prefix: Prefix): readonly WrappedCommand[] {
  const start = commandStart(args, prefix);
  if (start === undefined) return [unseen(`the options of ${name} are not all known`)];
  const words = args.slice(start);
  const own = args.slice(0, start);
  const set = own.filter(isAssignment);
  const risky = set.find((word) => !isHarmlessAssignment(word));
  const warned = risky === undefined ? [] : [unseen(`${risky.text} may change what runs`)];
  if (words.length === 0) return warned;
  const [first, script] = words;
  if (/^(-c|--command)$/.test(first?.value ?? '') && script !== undefined)
    return [...warned, { kind: 'script', source: joined([script]) }];
  if (isJoined(own, prefix)) return [...warned, { kind: 'script', source: joined(words) }];
  const folder = name === 'chroot' ? plainWord('/') : folderOf(own, prefix);
  return [...warned, { kind: 'words', words, ...(folder && { folder }) }];
}

function isJoined(own: readonly ShellWord[], prefix: Prefix): boolean {
  const { joins, direct = [] } = prefix;
  if (joins === undefined) return false;
  const flags = parseFlags(own, prefix);
  const has = (names: readonly string[]) =>
    'options' in flags && flags.options.some(({ name }) => names.includes(name));
  return joins === true ? !has(direct) : has(joins);
}

function folderOf(own: readonly ShellWord[], prefix: Prefix): ShellWord | undefined {
  if (prefix.folder === undefined) return undefined;
  const flags = parseFlags(own, prefix);
  if ('unknown' in flags) return undefined;
  return flags.options.findLast(({ name }) => prefix.folder?.includes(name))?.value;
}

/** False for a variable that may change what runs. */
function isHarmlessAssignment(word: ShellWord | undefined): boolean {
  const [, name = '', value] = /^([^=]*)=(.*)$/s.exec(word?.value ?? '') ?? [];
  return isHarmlessVariable(name, value);
}

/** The position of `-S` among the options of `env`; behind an option with a value, or a command, it has another meaning. */
function splitAt(args: readonly ShellWord[]): number {
  const at = args.findIndex(({ seen }) => !/^(?:-[i0v]*|--ignore-environment|--null|--debug)$/.test(seen));
  return /^-[i0v]*S|^--split-string(?:=|$)/.test(args[at]?.seen ?? '') ? at : -1;
}

/** `args` begin with the option. The words behind its text are passed on unchanged. */
function splitString([option, ...args]: readonly ShellWord[]): readonly WrappedCommand[] {
  const glued = /^(?:-[i0v]*S|--split-string=)(.+)$/s.exec(option?.value ?? '')?.[1];
  const text = glued ?? args[0]?.value ?? null;
  const behind = glued === undefined ? args.slice(1) : args;
  if (
    option?.value == null ||
    option.pattern ||
    text === null ||
    (glued === undefined && args[0]?.pattern) ||
    /[\0\\$"'#]/.test(text)
  )
    return [unseen('env -S splits text in its own way')];
  const words = [...text.split(/\s+/).filter(Boolean).map(plainWord), ...behind];
  const first = words.findIndex((word) => word.value === null || !/^\w+=/.test(word.value));
  if (first === -1) return [unseen('env -S has no command')];
  const inner: WrappedCommand = { kind: 'words', words: words.slice(first) };
  const isPlain = words.slice(0, first).every(isHarmlessAssignment) && !words[first]?.value?.startsWith('-');
  if (isPlain) return [inner];
  return [unseen('env -S sets what may change what runs'), inner];
}

/** The command's own name and those of the commands it wraps, outermost first. Cached, since several checks ask for it. */
export function commandNames({ words }: { readonly words: readonly ShellWord[] }): readonly string[] {
  const known = namesKnown.get(words);
  if (known !== undefined) return known;
  const names = namesBehind(words);
  namesKnown.set(words, names);
  return names;
}

const namesKnown = new WeakMap<readonly ShellWord[], readonly string[]>();

function namesBehind(words: readonly ShellWord[]): string[] {
  const names: string[] = [];
  const queue = [words];
  for (let next = queue.shift(); next !== undefined && names.length < MAX_NAMES; next = queue.shift()) {
    const [first, ...args] = next;
    const name = first?.value?.replace(/^.*\//s, '');
    if (name === undefined) continue;
    names.push(name);
    queue.push(...innerCommands(name, args).flatMap((one) => (one.kind === 'words' ? [one.words] : [])));
  }
  return names;
}

/** A command with more wrappers needs approval anyway. */
const MAX_NAMES = 20;
