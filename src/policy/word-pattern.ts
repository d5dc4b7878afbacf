/** A word of a command as far as it is known: null may become anything at run time, also several words or none. */
export type KnownWord = string | null;

/** One word of a rule. */
export interface WordPattern {
  readonly isOption: boolean;
  /** The word, where nothing in it stands for anything else. */
  readonly literal: string | undefined;
  matches(given: string): boolean;
}

export function wordPattern(word: string): WordPattern {
  const quoted = /^(['"])(.*)\1$/s.exec(word)?.[2];
  const literal = quoted ?? (word.includes('*') ? undefined : word);
  const isOption = (literal ?? word).startsWith('-');
  if (literal !== undefined) return { isOption, literal, matches: (given) => given === literal };
  const source = word.split('*').map((part) => part.replace(/[\\^$+.()|[\]{}?]/g, '\\$&'));
  const regex = new RegExp(`^${source.join('.*')}$`, 's');
  return { isOption, literal, matches: (given) => regex.test(given) };
}
