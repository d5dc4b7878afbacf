import { isHarmlessVariable } from '../../kernel/environment.ts';
import { type FlagTable, parseFlags } from './flags.ts';
import { plainWord, type ShellWord } from './shell-words.ts';
import { isTrickyBuiltin } from './tricky-builtins.ts';

/**
 * What a command that runs another one runs. `words`: a command line; `script`: text that a shell reads; `unseen`: it
 * runs something that cannot be known from here.
 */
export type Inner =
  /** `folder`: where it starts, if the wrapper changes that. */
  | { kind: 'words'; words: readonly ShellWord[]; folder?: ShellWord }
  | { kind: 'script'; source: string }
  | { kind: 'unseen'; why: string };

/** A word whose value nobody knows yet: a file that `find` finds, a line that `xargs` reads. */
const LATER: ShellWord = { text: '{}', value: null, pattern: false, home: false, runs: false };

interface Prefix extends FlagTable {
  /** Operands of its own before the command: the seconds of `timeout`. */
  operands?: number;
  /** `NAME=value` before the command. */
  assignments?: boolean;
  /** Options that say in which folder the command starts. */
  folder?: readonly string[];
}

/** Commands whose last arguments are a command line. */
const PREFIXES: Readonly<Record<string, Prefix>> = {
  sudo: {
    alone: '-E -H -n -S -k -b -i -s -A -K -P --preserve-env --non-interactive --login --shell --stdin --set-home',
    takes: '-u -g -p -h -C -T -D -R -r -t --user --group --prompt --host --chdir --chroot --role --type',
    assignments: true,
    folder: ['-D', '--chdir'],
  },
  doas: { alone: '-n -s', takes: '-u -C' },
  env: {
    alone: '-i -0 - --ignore-environment --null -v --debug',
    takes: '-u -C --unset --chdir',
    assignments: true,
    folder: ['-C', '--chdir'],
  },
  nohup: {},
  setsid: { alone: '-c -f -w --ctty --fork --wait' },
  nice: { alone: '', takes: '-n --adjustment', digits: true },
  ionice: { alone: '-t', takes: '-c -n -p' },
  chrt: { alone: '-b -f -i -o -r', takes: '-p', operands: 1 },
  taskset: { alone: '-c', operands: 1 },
  timeout: { alone: '-v --foreground --preserve-status --verbose', takes: '-k -s --kill-after --signal', operands: 1 },
  stdbuf: { takes: '-i -o -e --input --output --error' },
  time: { alone: '-p -v --portability --verbose', takes: '-f --format' },
  command: { alone: '-p' },
  builtin: {},
  exec: { alone: '-c -l', takes: '-a' },
  chronic: {},
  unbuffer: {},
  catchsegv: {},
  fakeroot: {},
  flock: { alone: '-s -x -n -u -o -F', takes: '-w -E', operands: 1 },
  watch: { alone: '-b -c -d -e -g -t -x', takes: '-n --interval' },
  busybox: {},
  toybox: {},
  strace: { alone: '-f -ff -c -q -t -v -y', takes: '-e -o -s' },
  ltrace: { alone: '-f -c', takes: '-e -o -s' },
  chroot: { takes: '--userspec --groups', operands: 1 },
  'xvfb-run': { alone: '-a', takes: '-s -n' },
  parallel: { alone: '-k -X --keep-order --dry-run', takes: '-j -N --jobs' },
  rtk: {},
};

export const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'rbash']);

/** The commands that this command runs, besides itself. Empty for one that runs nothing else. */
export function innerCommands(name: string, args: readonly ShellWord[]): readonly Inner[] {
  if (SHELLS.has(name)) return [shell(name, args)];
  if (name === 'eval') return [evaluated(args)];
  if (name === 'trap') return trapped(args);
  if (name === 'find' || name === 'fd' || name === 'fdfind') return found(args);
  if (name === 'xargs') return [perLine(args)];
  if (name === 'env' && args.some(({ text }) => /^-[a-zA-Z]*S|^--split-string/.test(text))) return [splitString(args)];
  if (isTrickyBuiltin(name, args)) return [unseen('it runs text by the way, or changes what words mean to the shell')];
  const prefix = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined;
  return prefix === undefined ? [] : behind(name, args, prefix);
}

function behind(name: string, args: readonly ShellWord[], prefix: Prefix): readonly Inner[] {
  const start = commandStart(args, prefix);
  if (start === undefined) return [unseen(`the options of ${name} are not all known`)];
  const words = args.slice(start);
  const set = args.slice(0, start).filter(({ text }) => /^\w+=/.test(text));
  const risky = set.find((word) => !isHarmlessAssignment(word));
  const warned = risky === undefined ? [] : [unseen(`${risky.text} may change what runs`)];
  if (words.length === 0) return warned;
  const folder = name === 'chroot' ? plainWord('/') : folderOf(args.slice(0, start), prefix);
  return [...warned, { kind: 'words', words, ...(folder && { folder }) }];
}

function folderOf(args: readonly ShellWord[], prefix: Prefix): ShellWord | undefined {
  if (prefix.folder === undefined) return undefined;
  const flags = parseFlags(args, prefix);
  if ('unknown' in flags) return undefined;
  return flags.options.find(({ name }) => prefix.folder?.includes(name))?.value;
}

/** Where the inner command begins: behind the options, the prefix's own operands and its assignments. */
function commandStart(args: readonly ShellWord[], prefix: Prefix): number | undefined {
  let at = 0;
  for (; at < args.length; at++) {
    const text = args[at]?.value;
    if (text === null || text === undefined) return undefined;
    if (text === '--') {
      at++;
      break;
    }
    if (!text.startsWith('-') || text === '-') break;
    const one = parseFlags(args.slice(at, at + 1), prefix);
    if ('unknown' in one) return undefined;
    if (one.options.at(-1)?.value === undefined && takesNext(text, prefix)) at++;
  }
  at += prefix.operands ?? 0;
  while (prefix.assignments && /^\w+=/.test(args[at]?.text ?? '')) at++;
  return at;
}

/** Any other variable may change what runs. */
function isHarmlessAssignment(word: ShellWord | undefined): boolean {
  return word?.value != null && isHarmlessVariable(word.value.slice(0, word.value.indexOf('=')));
}

function takesNext(text: string, { takes = '' }: Prefix): boolean {
  const name = text.startsWith('--') ? text : `-${text.at(-1)}`;
  return takes.split(/\s+/).includes(name) && !text.includes('=');
}

const SHELL_FLAGS: FlagTable = {
  alone: '-e -u -x -l -i -n -v -s --login --norc --noprofile --posix',
  takes: '-c -o -O',
};

/** Shells whose text means what it means to bash, but for a few things. */
const LIKE_BASH: ReadonlySet<string> = new Set(['bash', 'sh', 'dash', 'ash', 'rbash']);

function shell(name: string, args: readonly ShellWord[]): Inner {
  const at = args.findIndex(({ value }) => /^-[a-zA-Z]*c$/.test(value ?? ''));
  if (at === -1) return unseen(`${name} runs a script that is not shown here`);
  const before = parseFlags(args.slice(0, at), SHELL_FLAGS);
  const script = args[at + 1]?.value;
  if ('unknown' in before || script === null || script === undefined) return unseen(`${name} runs computed text`);
  // The first operand is a script; then -c is one of its arguments.
  if (before.operands.length > 0) return unseen(`${name} runs a script that is not shown here`);
  if (!LIKE_BASH.has(name)) return unseen(`${name} reads text in its own way`);
  if (name !== 'bash' && /\$['"]/.test(script)) return unseen(`${name} reads quotes after $ in its own way`);
  return { kind: 'script', source: script };
}

function evaluated(args: readonly ShellWord[]): Inner {
  const values = args.map(({ value }) => value);
  if (values.includes(null)) return unseen('eval runs computed text');
  return { kind: 'script', source: values.join(' ') };
}

function trapped(args: readonly ShellWord[]): readonly Inner[] {
  const action = args.find(({ value }) => value !== '--');
  if (action === undefined || action.value === '-' || action.value === '' || action.value === '-l') return [];
  return action.value === null ? [unseen('trap runs computed text')] : [{ kind: 'script', source: action.value }];
}

const EXEC_ACTIONS = ['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'];

function found(args: readonly ShellWord[]): readonly Inner[] {
  const inner: Inner[] = [];
  args.forEach(({ value }, at) => {
    if (!EXEC_ACTIONS.includes(value ?? '')) return;
    const rest = args.slice(at + 1);
    const end = rest.findIndex(({ value: word }) => word === ';' || word === '+');
    const words = (end === -1 ? rest : rest.slice(0, end)).map((word) => (word.text.includes('{}') ? LATER : word));
    inner.push(words.length === 0 ? unseen('find runs an empty command') : { kind: 'words', words });
  });
  return inner;
}

const XARGS: FlagTable = {
  alone: '-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty',
  takes: '-I -L -n -P -s -d -E --max-lines --max-args --max-procs --max-chars --delimiter',
  glued: '-i -l -e --replace --process-slot-var',
};

/** What it reads becomes arguments, so the command gets words that nobody has seen. */
function perLine(args: readonly ShellWord[]): Inner {
  const start = commandStart(args, XARGS);
  if (start === undefined) return unseen('the options of xargs are not all known');
  const replaced = replacedText(args.slice(0, start));
  const words = args.slice(start).map((word) => (replaced !== null && word.text.includes(replaced) ? LATER : word));
  if (words[0]?.value === null) return unseen('xargs runs what it reads');
  return { kind: 'words', words: [...(words.length === 0 ? [plainWord('echo')] : words), LATER] };
}

/** What `-I` has replaced by each line, wherever it stands in a word; null without it. */
function replacedText(options: readonly ShellWord[]): string | null {
  const at = options.findIndex(({ text }) => /^-[a-zA-Z0-9]*[Ii]|^--replace/.test(text));
  if (at === -1) return null;
  const text = options[at]?.value ?? '';
  const glued = /^-[a-zA-Z0-9]*?[Ii](.+)$/.exec(text)?.[1] ?? /^--replace=(.+)$/.exec(text)?.[1];
  return glued ?? (/I$/.test(text) ? (options[at + 1]?.value ?? '') : '{}');
}

function splitString(args: readonly ShellWord[]): Inner {
  const text = args.map(({ value }) => value ?? '\0').join(' ');
  const split = /(?:^|\s)(?:-[a-zA-Z]*S\s*|--split-string[= ])(.*)$/s.exec(text)?.[1];
  if (split === undefined || /[\0\\$"'#]/.test(split)) return unseen('env -S splits text in its own way');
  const words = split.split(/\s+/).filter(Boolean);
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  const set = first === -1 ? words : words.slice(0, first);
  if (!set.map(plainWord).every(isHarmlessAssignment)) return unseen('env -S sets what may change what runs');
  return first === -1 ? unseen('env -S has no command') : { kind: 'words', words: words.slice(first).map(plainWord) };
}

/** The command's own name and those of the commands it wraps, outermost first. */
export function commandNames({ words }: { readonly words: readonly ShellWord[] }, depth = 0): string[] {
  const [first, ...args] = words;
  const name = first?.value?.replace(/^.*\//s, '');
  if (name === undefined) return [];
  const inner = depth < MOST_WRAPPERS ? innerCommands(name, args) : [];
  return [name, ...inner.flatMap((one) => (one.kind === 'words' ? commandNames(one, depth + 1) : []))];
}

/** More of them around one command are asked about anyway. */
const MOST_WRAPPERS = 8;

function unseen(why: string): Inner {
  return { kind: 'unseen', why };
}
