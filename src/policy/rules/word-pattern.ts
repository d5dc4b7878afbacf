import { globMatcher, STAR_GLOB } from '../../kernel/text/glob.ts';
import { knownWord, type ShellWord } from '../../shell/words.ts';

/** A word of a command, or null when it is known only at run time: it may then become any text, several words or none. */
export type KnownWord = string | null;

/** The words behind these count as one that is not known. */
const MAX_KNOWN_WORDS = 1000;

/** The words of a command as rules and tables of uses see them. */
export function knownWords(name: string | null, args: readonly ShellWord[]): readonly KnownWord[] {
  const known = args.slice(0, MAX_KNOWN_WORDS).map(knownWord);
  return [name, ...known, ...(args.length > MAX_KNOWN_WORDS ? [null] : [])];
}

/** One word of a rule. */
export interface WordPattern {
  readonly isOption: boolean;
  /** The word itself; undefined when it has a wildcard. */
  readonly literal: string | undefined;
  matches(given: string): boolean;
}

export function wordPattern(word: string): WordPattern {
  const quoted = /^(['"])(.*)\1$/s.exec(word)?.[2];
  const literal = quoted ?? (word.includes('*') ? undefined : word);
  const isOption = (literal ?? word).startsWith('-');
  if (literal !== undefined) return { isOption, literal, matches: (given) => given === literal };
  return { isOption, literal, matches: globMatcher(word, STAR_GLOB) };
}
