import type { ShellWord } from './words.ts';

/** A file that a redirection opens. */
export interface Redirection {
  readonly text: string;
  readonly opens: 'read' | 'write';
  readonly target: ShellWord;
}

export interface Assignment {
  readonly name: string;
  readonly text: string;
  readonly computed: boolean;
}

/** One program, builtin or function that a script starts, wherever in the script it stands. */
export interface SimpleCommand {
  readonly text: string;
  /** Command word and arguments. Empty for a line of assignments. */
  readonly words: readonly ShellWord[];
  readonly assignments: readonly Assignment[];
  readonly redirections: readonly Redirection[];
  /** The text of its heredoc or here-string, as written; undefined without one. */
  readonly input: string | undefined;
}
