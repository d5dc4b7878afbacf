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
  return { isOption, literal, matches: starMatcher(word) };
}

/** Takes each piece where it first fits: a regular expression would try every way to share a long word among the stars. */
function starMatcher(word: string): (given: string) => boolean {
  const [front = '', ...pieces] = word.split('*');
  const back = pieces.pop() ?? '';
  return (given) => {
    if (given.length < front.length + back.length || !given.startsWith(front) || !given.endsWith(back)) return false;
    const middle = given.slice(front.length, given.length - back.length);
    let at = 0;
    return pieces.every((piece) => {
      const found = middle.indexOf(piece, at);
      at = found + piece.length;
      return found !== -1;
    });
  };
}
