import type { Caught } from '../caught.ts';
import { catches } from './match-deny-rule.ts';
import { type KnownWord, wordPattern } from '../word-pattern.ts';

export interface CommandPattern {
  /** Exactly these words. */
  matches(argv: readonly string[]): boolean;
  /** For rules that hold something back: however it is spelled. */
  catches(words: readonly KnownWord[]): Caught;
  /** Whether the pattern itself says this word, and not a `*` that stands for anything. */
  names(word: string): boolean;
}

export const EVERY_COMMAND: CommandPattern = {
  matches: () => true,
  catches: () => 'yes',
  names: () => false,
};
export const NO_COMMAND: CommandPattern = {
  matches: () => false,
  catches: () => 'no',
  names: () => false,
};

/**
 * `npm test *`: the words as they stand, `*` inside a word for anything in it, and at the end for any further words. A
 * word in quotes is meant letter by letter.
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
    catches: (given) => catches(fixed, open, given),
    names: (word) => words.some((one, at) => one !== '*' && fixed[at]?.matches(word) === true),
  };
}
