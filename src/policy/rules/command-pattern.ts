import type { MatchCertainty } from './match-certainty.ts';
import { matchRestrictedCommand } from './match-deny-rule.ts';
import { type KnownWord, wordPattern } from './word-pattern.ts';

export interface CommandPattern {
  /** Whether these are exactly the words of the pattern. */
  matches(argv: readonly string[]): boolean;
  /** For ask and deny rules: whether a command is the one meant, however it is spelled. */
  certainty(words: readonly KnownWord[]): MatchCertainty;
  /** Whether it may be about a program of this name. */
  begins(program: string): boolean;
  /** Whether the pattern contains this word itself, and not a `*` in its place. */
  names(word: string): boolean;
}

export const EVERY_COMMAND: CommandPattern = {
  matches: () => true,
  certainty: () => 'yes',
  begins: () => true,
  names: () => false,
};
export const NO_COMMAND: CommandPattern = {
  matches: () => false,
  certainty: () => 'no',
  begins: () => false,
  names: () => false,
};

/**
 * Parses a pattern such as `npm test *`. A `*` inside a word matches any characters, and at the end any further words. A word
 * in quotes is literal.
 */
export function commandPattern(pattern: string): CommandPattern {
  const words = pattern.replace(/:\*$/, ' *').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const open = words.at(-1) === '*';
  const fixed = (open ? words.slice(0, -1) : words).map(wordPattern);
  return {
    matches(argv) {
      if (open ? argv.length < fixed.length : argv.length !== fixed.length) return false;
      return fixed.every(({ matches }, index) => matches(argv[index] ?? ''));
    },
    certainty: (given) => matchRestrictedCommand({ fixed, open }, given),
    begins: (program) => fixed[0]?.matches(program) ?? true,
    names: (word) => words.some((one, at) => one !== '*' && fixed[at]?.matches(word) === true),
  };
}
