import { type Surroundings, sensitiveReason } from '../../shell/resolve-path.ts';
import { isListed, spellingsOf } from '../../shell/spellings.ts';
import { operandsAmong, plainWord, type ShellWord } from '../../shell/words.ts';
import { ask, BY_CHANGES, deny, NETWORK, type Ruling, SENSITIVE } from './command-judgement.ts';
import { outsideEffect } from './outside-effects.ts';
import { outsideLoss } from './outside-losses.ts';

export interface ProgramJudgement extends Ruling {
  readonly isOutside?: true;
  /** The word by which it does outside what nothing takes back. */
  readonly loses?: string;
}

interface ProgramUse {
  readonly name: string;
  readonly args: readonly ShellWord[];
}

/** Judges a command by itself in any of these folders, without the rules: by the secrets it names and its effects outside. */
export function judgeProgram(
  { name, args }: ProgramUse,
  folders: readonly string[],
  where: Surroundings,
): ProgramJudgement {
  const secret = name === 'git' ? judgeGit(args, folders, where) : judgeNames(openedWords(name, args), folders, where);
  if (secret !== undefined) return secret;
  const effect = outsideEffect([name, ...args.map(({ value, pattern }) => (pattern ? null : value))]);
  const loses = outsideLoss(name, args);
  if (loses === undefined)
    return effect === undefined ? JUDGED_BY_CHANGES : { ...ask(effect.rule, effect.reason), isOutside: true };
  const what = loses === name ? name : `${name} ${loses}`;
  const why = `${what} cannot be taken back. Only a rule that names ${loses} allows it without approval.`;
  return { ...ask(effect?.rule ?? NETWORK, why), isOutside: true, loses };
}

const JUDGED_BY_CHANGES: Ruling = Object.freeze({
  verdict: 'allow',
  rule: BY_CHANGES,
  reason: 'Its changes are judged before they are kept.',
});

/** Programs that use names of files and open none of them. */
const NAMING = new Set(
  'echo printf ls test [ [[ stat basename dirname realpath readlink find fd fdfind which type'.split(' '),
);
/** Programs whose first operand is a pattern, unless an option gives it. */
const MATCHING = new Set('grep egrep fgrep rg ag sed awk gawk mawk jq'.split(' '));

/** The words of a command that may be files it opens. */
function openedWords(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (NAMING.has(name)) return [];
  if (
    !MATCHING.has(name) ||
    args.some(({ seen }) => /^(-[a-zA-Z]*[ef]|--(regexp|file|expression|from-file)\b)/.test(seen))
  )
    return args;
  const [pattern] = operandsAmong(args);
  return args.filter((word) => word !== pattern);
}

const FOREIGN_ENVIRONMENT = /^\/proc\/(?!self\/|thread-self\/)[^/]+\/environ$/;

function judgeNames(words: readonly ShellWord[], folders: readonly string[], where: Surroundings): Ruling | undefined {
  for (const word of words) {
    // Which files a pattern matches is seen in the sandbox, where the secrets among them are masked.
    const masked = word.pattern ? undefined : sensitiveReason(word, folders, where);
    const why = FOREIGN_ENVIRONMENT.test(word.seen) ? 'the environment of another process may hold secrets' : masked;
    if (why !== undefined)
      return deny(SENSITIVE, `${word.text} cannot be used: ${why}. A user can lift that in the configuration.`);
  }
  return undefined;
}

const GIT_NAMES = new Set('status check-ignore ls-files ls-tree rev-parse check-attr'.split(' '));
const GIT_PRINTS = new Set('show log diff blame annotate grep cat-file archive format-patch stash reflog'.split(' '));

/** Masks cover the working tree and not the history, so that a person is asked about what git prints from it. */
function judgeGit(args: readonly ShellWord[], folders: readonly string[], where: Surroundings): Ruling | undefined {
  const { takes } = spellingsOf('git');
  let at = 0;
  while (args[at]?.value?.startsWith('-')) at += isListed(args[at]?.value ?? '', takes) ? 2 : 1;
  const subcommand = args[at]?.value ?? '';
  if (GIT_NAMES.has(subcommand)) return undefined;
  if (!GIT_PRINTS.has(subcommand)) return judgeNames(args, folders, where);
  for (const word of args.slice(at + 1)) {
    const path = /^[^:]*:(?:\d:)?(.+)$/s.exec(word.value ?? '')?.[1];
    const named = [word, ...(path === undefined ? [] : [plainWord(path)])].map(asPathspec);
    const why = named.map((each) => sensitiveReason(each, folders, where)).find(Boolean);
    if (why !== undefined) return ask(SENSITIVE, `The history may hold ${word.text}: ${why}.`);
  }
  return undefined;
}

/** Git matches patterns by itself, also in quotes. */
function asPathspec(word: ShellWord): ShellWord {
  return { ...word, pattern: word.pattern || /[*?[]/.test(word.value ?? '') };
}
