import type { ShellWord } from '../../../shell/words.ts';

/** The files that a command touches which only reads. `content` files are opened; `named` ones are only looked at from outside. */
export interface ReadOnlyUse {
  readonly content: readonly ShellWord[];
  readonly named: readonly ShellWord[];
  /** It opens more than it names: what is in a folder. */
  readonly roams?: boolean;
}

/** Either what it reads, or why it is not known to be read-only. */
export type ReadOnlyAnswer = ReadOnlyUse | { readonly why: string };
