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
  if (value !== undefined) return matchWithValue({ option: literal, value }, words, spellings);
  if (words.includes(literal) || spellings.oneDash || !/^-[A-Za-z]{2,}$/.test(literal))
    return matchWords(words, (word) => matchSpelling(literal, word, spellings));
  const letters = [...literal.slice(1)].map((letter) =>
    matchWords(words, (word) => matchSpelling(`-${letter}`, word, spellings)),
  );
  return {
    certainty: letters.map(({ certainty: caught }) => caught).reduce(weakest),
    at: letters.flatMap(({ at }) => at),
  };
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

/** `-X POST`, `-XPOST`, `-sXPOST`, `--request=POST`. */
function matchWithValue(
  { option, value }: { option: string; value: WordPattern },
  words: readonly KnownWord[],
  spellings: Spellings,
): OptionMatch {
  const names = sameOptions(option, spellings) ?? [option];
  const letters = spellings.oneDash
    ? []
    : names.filter((name) => /^-[A-Za-z]$/.test(name)).map((name) => name.slice(1));
  for (const [at, given] of words.entries()) {
    const cluster = letters.find((letter) =>
      new RegExp(`^-[A-Za-z]{1,${MAX_CLUSTER_LENGTH}}?${letter}`).test(given ?? ''),
    );
    const word = cluster === undefined || given === null ? given : `-${given.slice(given.indexOf(cluster, 1))}`;
    const name = names.find((one) => word?.startsWith(one));
    if (word === null || name === undefined) continue;
    const next = words[at + 1];
    if (word === name && next === null) return { certainty: 'maybe', at: [at, at + 1] };
    if (word === name && next !== undefined && next !== null && value.matches(next))
      return { certainty: 'yes', at: [at, at + 1] };
    if (word !== name && value.matches(word.slice(name.length).replace(/^=/, '')))
      return { certainty: 'yes', at: [at] };
  }
  return { certainty: words.includes(null) ? 'maybe' : 'no', at: [] };
}
