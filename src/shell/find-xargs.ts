import { type FlagTable, parseFlags } from './flags.ts';
import { commandStart } from './prefixes.ts';
import { plainWord, type ShellWord } from './words.ts';
import { LATER, LATER_WORDS, unseen, type WrappedCommand } from './wrapped-command.ts';

const EXEC_ACTIONS = ['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'];

/** The commands that `find` and `fd` run for each file. */
export function commandsPerFile(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const inner: WrappedCommand[] = [];
  let end = -1;
  for (const [at, { value }] of args.entries()) {
    if (!EXEC_ACTIONS.includes(value ?? '') || at < end) continue;
    end = endOf(args, at + 1);
    const words = args.slice(at + 1, end).map((word) => (hasLater(word, ['{}']) ? LATER : word));
    inner.push(words.length === 0 ? unseen('find runs an empty command') : { kind: 'words', words });
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
  if (start === undefined) return [unseen('the options of xargs are not all known')];
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
