import { type FlagTable, parseFlags } from './flags.ts';
import { commandStarts } from './launchers.ts';
import { commandStart } from './prefixes.ts';
import { plainWord, type ShellWord } from './words.ts';
import { guessScript, joined, LATER, LATER_WORDS, unseen, type WrappedCommand } from './wrapped-command.ts';

const EXEC_ACTIONS = ['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'];

/** Actions inside a command that are looked at, in case that what seemed to begin it was a name to be found. */
const MOST_INSIDE = 8;
/** Where there are more words than these, none: each is read with all the words behind it. */
const MOST_WORDS = 500;

/** The commands that `find` and `fd` run for each file. */
export function commandsPerFile(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const inner: WrappedCommand[] = [];
  const most = args.length > MOST_WORDS ? 0 : MOST_INSIDE;
  let end = -1;
  let inside = 0;
  for (const [at, { value }] of args.entries()) {
    if (!EXEC_ACTIONS.includes(value ?? '')) continue;
    inside = at < end ? inside + 1 : 0;
    if (inside > most) {
      if (inside === most + 1) inner.push(unseen('find has more actions in one command than can be checked'));
      continue;
    }
    if (at >= end) end = endOf(args, at + 1);
    const words = args.slice(at + 1, end).map((word) => (hasLater(word, ['{}']) ? LATER : word));
    if (words.length === 0) inner.push(unseen('find runs an empty command'));
    else inner.push(inside === 0 ? { kind: 'words', words } : { kind: 'words', words, guess: 'here' });
  }
  return inner;
}

function endOf(args: readonly ShellWord[], from: number): number {
  for (let at = from; at < args.length; at++) {
    const word = args[at]?.value;
    if (word === ';' || word === '+') return at;
  }
  return args.length;
}

const XARGS: FlagTable = {
  alone: '-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty',
  takes: '-I -L -n -P -s -d -E --max-args --max-procs --max-chars --delimiter',
  glued: '-i -l -e --replace --max-lines --eof',
};

/** The command that `xargs` runs. Its input becomes arguments, so that the command gets unknown words. */
export function commandsPerLine(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const start = commandStart(args, XARGS);
  if (start === undefined) return [unseen('the options of xargs are not all known'), ...guessCommands(args)];
  const replaced = replacedTexts(args.slice(0, start));
  const words = args.slice(start).map((word) => (hasLater(word, replaced) ? LATER : word));
  if (words[0]?.value === null) return [unseen('xargs runs what it reads')];
  return [{ kind: 'words', words: [...(words.length === 0 ? [plainWord('echo')] : words), LATER_WORDS] }];
}

/** The texts that `-I` replaces by each line, anywhere in a word. The last `-I` counts; all of them are looked for. */
function replacedTexts(options: readonly ShellWord[]): readonly string[] {
  const flags = parseFlags(options, XARGS);
  const given = 'unknown' in flags ? [] : flags.options.filter(({ name }) => /^(?:-I|-i|--replace)$/.test(name));
  return given.map(({ value }) => value?.value ?? '{}');
}

function hasLater({ value, text }: ShellWord, replaced: readonly string[]): boolean {
  return replaced.some((each) => value?.includes(each) || text.includes(each));
}

const PARALLEL: FlagTable = {
  alone:
    '-k -X -m -q -t -v -0 --keep-order --dry-run --xargs --verbose --null --no-notice --will-cite --bar --progress',
  takes: '-j -N -n -P -S -a -I -d --jobs --max-args --timeout --delay --retries --joblog --halt --colsep',
};
const MOST_INPUTS = 20;

/** The scripts that `parallel` gives to a shell for each of its inputs: those behind `:::`, or unknown lines. */
export function commandsPerInput(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const start = commandStart(args, PARALLEL);
  if (start === undefined) return [unseen('the options of parallel are not all known'), ...guessCommands(args)];
  const words = args.slice(start);
  const end = words.findIndex(({ value }) => /^::::?\+?$/.test(value ?? ''));
  const command = joined(end === -1 ? words : words.slice(0, end));
  const inputs = end === -1 ? [] : words.slice(end + 1).map((word) => joined([word]));
  const isKnown = words[end]?.value === ':::' && inputs.length <= MOST_INPUTS;
  if (command === '' && !isKnown) return [unseen('parallel runs what it reads')];
  const given = isKnown ? inputs : [...inputs.slice(0, MOST_INPUTS), '"$LINE"'];
  return given.map((input) => ({ kind: 'script', source: withInput(command, input) }));
}

function withInput(command: string, input: string): string {
  return /\{[^{}]*\}/.test(command) ? command.replace(/\{[^{}]*\}/g, () => input) : `${command} ${input}`;
}

/** Where the options are not all known: every way it may be meant, by a shell that reads it too. */
export function guessCommands(args: readonly ShellWord[]): readonly WrappedCommand[] {
  return commandStarts(args).flatMap((at) => {
    const words = args.slice(at);
    return [{ kind: 'words', words, guess: 'here' }, guessScript(joined(words))];
  });
}
