import { globMatcher, STAR_GLOB } from '../../kernel/text/glob.ts';

/** A word of a command, or null when it is known only at run time: it may then become any text, several words or none. */
export type KnownWord = string | null;

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
