import { plainWord, type ShellWord } from './words.ts';

/**
 * The command that a wrapper such as `sudo` or `xargs` runs. `words`: a command line; `script`: text that a shell reads;
 * `unseen`: a command that cannot be known here. `guess`: one of several readings, of which only refusals and unusual
 * questions count.
 */
export type WrappedCommand =
  /** `folder`: where it starts, if the wrapper changes that. */
  | { kind: 'words'; words: readonly ShellWord[]; folder?: ShellWord; guess?: GuessKind }
  /** `shell`: the shell that reads it, if not the one that runs the command. */
  | { kind: 'script'; source: string; shell?: string; guess?: GuessKind }
  | { kind: 'unseen'; why: string };

/** One of several readings of a wrapped command. */
export type GuessedCommand = Exclude<WrappedCommand, { kind: 'unseen' }> & { guess: GuessKind };

/**
 * `here`: it runs on this host. `elsewhere`: it runs on another machine or in a container, so its paths are not those of this host. `mentioned`: a text in
 * code that nothing visibly starts.
 */
export type GuessKind = 'here' | 'elsewhere' | 'mentioned';

/** A word that is inserted at run time: a file that `find` finds, a line that `xargs` puts into a word. */
export const LATER: ShellWord = { ...plainWord('{}'), value: null, later: 'one' };
/** The words that `xargs` reads and appends. */
export const LATER_WORDS: ShellWord = { ...LATER, later: 'many' };

export function unseen(why: string): WrappedCommand {
  return { kind: 'unseen', why };
}

export function guessScript(source: string, guess: GuessKind = 'here'): GuessedCommand {
  return { kind: 'script', source, guess };
}

/** The words as one text, as a shell reads them. */
export function joined(words: readonly ShellWord[]): string {
  return words.map(({ seen }) => seen).join(' ');
}
