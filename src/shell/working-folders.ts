import { posix } from 'node:path';
import type { Surroundings } from './resolve-path.ts';
import type { ShellWord } from './words.ts';

/** How many folders a script may be in by its end, as each `cd` may have run or not. */
const MOST = 16;
/** How often it may change folders, also to where it has been. */
const MOST_CHANGES = 256;
/** Characters of a folder's path: every word is looked up from each. */
export const LONGEST_FOLDER = 1000;

/** The folders that the commands of a script may run in. */
export class Folders {
  readonly #home: string;
  #all: readonly string[];
  #lostTrack = false;
  #changes = 0;

  constructor({ cwd, root, home }: Surroundings) {
    this.#home = home;
    this.#all = [cwd ?? root];
  }

  /** The newest first. */
  get all(): readonly string[] {
    return this.#all;
  }

  /**
   * Later commands run in the old folders or in the new ones: a `cd` may run or not. Without a target it goes home.
   * Returns the new ones, or why nobody can follow it.
   */
  follow(target: ShellWord | undefined): { fresh: readonly string[]; why?: string } {
    if (target?.value === '-') return { fresh: [] };
    const path = target === undefined || target.home ? this.#home : target.value;
    if (path === null || target?.pattern)
      return { fresh: [], why: `Which folder ${target?.text} is, is known only at run time.` };
    // Once there are too many, a person is asked; what is left to see is a way to where nothing should be lost.
    if (this.#lostTrack && !path.startsWith('/')) return { fresh: [] };
    const reached = new Set(this.#all.map((folder) => posix.resolve(folder, path)));
    const short = [...reached].filter((folder) => folder.length <= LONGEST_FOLDER);
    const fresh = short.filter((folder) => !this.#all.includes(folder));
    this.#all = [...fresh, ...this.#all].slice(0, MOST);
    if (this.#lostTrack) return { fresh: [] };
    this.#lostTrack = this.#all.length === MOST || ++this.#changes === MOST_CHANGES;
    if (short.length < reached.size)
      return { fresh, why: 'It goes to a folder whose path is too long to be followed.' };
    return this.#lostTrack ? { fresh, why: 'It changes folders too often to be followed.' } : { fresh };
  }

  /** Forgets the folders behind these: what went there ran on another machine. */
  returnTo(folders: readonly string[]): void {
    this.#all = folders;
  }
}
