import { plainWord, type ShellWord } from './words.ts';

/**
 * The command that a wrapper such as `sudo` or `xargs` runs. `words`: a command line; `script`: text that a shell reads;
 * `unseen`: a command that cannot be known here.
 */
export type WrappedCommand =
  /** `folder`: where it starts, if the wrapper changes that. */
  | { kind: 'words'; words: readonly ShellWord[]; folder?: ShellWord }
  /** `shell`: the shell that reads it, if not the one that runs the command. */
  | { kind: 'script'; source: string; shell?: string }
  | { kind: 'unseen'; why: string };

/** A word that is inserted at run time: a file that `find` finds, a line that `xargs` puts into a word. */
export const LATER: ShellWord = { ...plainWord('{}'), value: null, later: 'one' };
/** The words that `xargs` reads and appends. */
export const LATER_WORDS: ShellWord = { ...LATER, later: 'many' };

export function unseen(why: string): WrappedCommand {
  return { kind: 'unseen', why };
}

/** The words as one text, as a shell reads them. */
export function joined(words: readonly ShellWord[]): string {
  return words.map(({ seen }) => seen).join(' ');
}
