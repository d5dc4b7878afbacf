import { plainWord, type ShellWord } from '../../shell/words.ts';

/**
 * What a command that runs another one runs. `words`: a command line; `script`: text that a shell reads; `unseen`: it
 * runs something that cannot be known from here. `loose`: one way to read it among others, so that only what is refused or
 * held back there counts.
 */
export type Inner =
  /** `folder`: where it starts, if the wrapper changes that. */
  | { kind: 'words'; words: readonly ShellWord[]; folder?: ShellWord; loose?: Loose }
  /** `shell`: which one reads it, if not the one that runs the command. */
  | { kind: 'script'; source: string; shell?: string; loose?: Loose }
  | { kind: 'unseen'; why: string };

/**
 * `elsewhere`: it runs on another machine or in a container, so its paths are none of ours. `mentioned`: a text in code that
 * starts nothing as far as one can see.
 */
export type Loose = true | 'elsewhere' | 'mentioned';

/** A word whose value nobody knows yet: a file that `find` finds, a line that `xargs` puts into a word. */
export const LATER: ShellWord = { ...plainWord('{}'), value: null, later: 'one' };
/** What `xargs` reads and appends. */
export const LATER_WORDS: ShellWord = { ...LATER, later: 'many' };

export function unseen(why: string): Inner {
  return { kind: 'unseen', why };
}

export function loosely(source: string, loose: Loose = true): Inner {
  return { kind: 'script', source, loose };
}

/** As a shell reads it that is given the words one behind the other. */
export function joined(words: readonly ShellWord[]): string {
  return words.map(({ seen }) => seen).join(' ');
}
