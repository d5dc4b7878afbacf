import { type Spellings, sameOptions } from '../../shell/spellings.ts';
import { type MatchCertainty, weakest } from './match-certainty.ts';
import type { KnownWord, WordPattern } from './word-pattern.ts';

/** An option that a rule names, perhaps with its value. */
export interface NamedOption {
  readonly option: WordPattern;
  readonly value?: WordPattern;
}

interface OptionMatch {
  readonly certainty: MatchCertainty;
  /** The positions of the words that it is. */
  readonly at: readonly number[];
}

/** Looks for an option among the words, in every spelling: `--force`, `--force=x`, `-f`, `-qf`, `--forc`. */
export function findOption(
  { option, value }: NamedOption,
  args: readonly KnownWord[],
  spellings: Spellings,
): OptionMatch {
  const end = args.indexOf('--');
  const words = end === -1 ? args : args.slice(0, end);
  const { literal } = option;
  if (literal === undefined) return matchWords(words, (word) => (option.matches(word) ? 'yes' : 'no'));
  const joined = value === undefined ? -1 : joinedAt(literal, value, { words, spellings });
  if (joined !== -1) return { certainty: 'yes', at: [joined] };
  const isCluster = !words.includes(literal) && !spellings.oneDash && /^-[A-Za-z]{2,}$/.test(literal);
  const names = isCluster ? [...literal.slice(1)].map((letter) => `-${letter}`) : [literal];
  const found = names.map((name) => matchWords(words, (word) => matchSpelling(name, word, spellings)));
  if (value !== undefined) found.push(matchWords(args, (word) => (value.matches(word) ? 'yes' : 'no')));
  return { certainty: found.map(({ certainty }) => certainty).reduce(weakest), at: found.flatMap(({ at }) => at) };
}

/** The position of a word that holds an option with its value: `-XPOST`, `-sXPOST`, `--request=POST`. */
function joinedAt(
  option: string,
  { matches }: WordPattern,
  { words, spellings }: { words: readonly KnownWord[]; spellings: Spellings },
): number {
  const names = sameOptions(option, spellings) ?? [option];
  return words.findIndex((word) =>
    names.some((name) => {
      if (!word?.startsWith('-')) return false;
      const isLetter = name.length === 2 && !spellings.oneDash;
      const end = isLetter ? word.indexOf(name.slice(1), 1) + 1 : word.startsWith(`${name}=`) ? name.length : 0;
      return end > 0 && end < word.length && matches(word.slice(end).replace(/^=/, ''));
    }),
  );
}

function matchWords(words: readonly KnownWord[], judge: (word: string) => MatchCertainty): OptionMatch {
  const answers = words.map((word) => (word === null ? 'no' : judge(word)));
  const sure = answers.flatMap((answer, at) => (answer === 'yes' ? [at] : []));
  if (sure.length > 0) return { certainty: 'yes', at: sure };
  const perhaps = answers.flatMap((answer, at) => (answer === 'maybe' ? [at] : []));
  return { certainty: perhaps.length > 0 || words.includes(null) ? 'maybe' : 'no', at: perhaps };
}

function matchSpelling(option: string, word: string, spellings: Spellings): MatchCertainty {
  const { oneDash } = spellings;
  if (word === option || word.startsWith(`${option}=`)) return 'yes';
  if (!word.startsWith('-')) return 'no';
  if (oneDash) return word.replace(/^--/, '-').split('=')[0] === option.replace(/^--/, '-') ? 'yes' : 'no';
  const equal = sameOptions(option, spellings);
  const names = equal ?? [option];
  if (names.some((name) => word === name || word.startsWith(`${name}=`))) return 'yes';
  if (!word.startsWith('--')) {
    const letters = names.filter((name) => !name.startsWith('--')).map((name) => name.slice(1));
    if (/^-[A-Za-z]+$/.test(word) && letters.some((letter) => letter.length === 1 && word.includes(letter)))
      return word.length <= MAX_CLUSTER_LENGTH ? 'yes' : 'maybe';
    // The meaning of its letters is unknown.
    return equal === undefined && option.startsWith('--') && word[1] === option[2] ? 'maybe' : 'no';
  }
  const name = word.split('=')[0] ?? '';
  if (names.some((one) => one.startsWith('--') && name.length > MIN_ABBREVIATION_LENGTH && one.startsWith(name)))
    return 'maybe';
  return equal === undefined && /^-[A-Za-z]$/.test(option) && word[2] === option[1] ? 'maybe' : 'no';
}

/** In a longer cluster a letter may be part of a value: `-ofile`. */
const MAX_CLUSTER_LENGTH = 5;
/** Programs accept the beginning of a long option for the whole. */
const MIN_ABBREVIATION_LENGTH = 3;
