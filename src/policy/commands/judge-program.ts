import { type Surroundings, sensitiveTarget } from '../../shell/resolve-path.ts';
import { gitSubcommandAt } from '../../shell/spellings.ts';
import { operandsAmong, type ShellWord } from '../../shell/words.ts';
import { knownWords } from '../rules/word-pattern.ts';
import { ask, BY_CHANGES, deny, denySecret, NETWORK, type Ruling, SENSITIVE } from './command-judgement.ts';
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
  const secret = judgeNames(openedWords(name, args), folders, where);
  if (secret !== undefined) return secret;
  const effect = outsideEffect(knownWords(name, args));
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
/** Subcommands of git that open none either, or only what git keeps of them: the sandbox hides the files themselves. */
const GIT_NAMING = new Set(
  'status check-ignore ls-files ls-tree rev-parse check-attr show log diff blame annotate grep cat-file archive format-patch stash reflog'.split(
    ' ',
  ),
);
/** Programs whose first operand is a pattern, unless an option gives it. */
const MATCHING = new Set('grep egrep fgrep rg ag sed awk gawk mawk jq'.split(' '));

/** The words of a command that may be files it opens. */
function openedWords(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (
    NAMING.has(name) ||
    (name === 'git' && GIT_NAMING.has(args[gitSubcommandAt(args.map(({ value }) => value))]?.value ?? ''))
  )
    return [];
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
    if (FOREIGN_ENVIRONMENT.test(word.seen))
      return deny(SENSITIVE, `${word.text} cannot be used: the environment of another process may hold secrets.`);
    const target = sensitiveTarget(word, folders, where);
    if (target !== undefined)
      return denySecret({ text: word.text, path: target.path, why: target.reason }, where.files);
  }
  return undefined;
}
