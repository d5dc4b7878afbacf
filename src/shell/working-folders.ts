import { posix } from 'node:path';
import type { Surroundings } from './resolve-path.ts';
import type { ShellWord } from './words.ts';

/** How many folders a script may end in, since each `cd` may have run or not. */
const MAX_FOLDERS = 16;
/** How often a script may change folders, including back to earlier ones. */
const MAX_CHANGES = 256;
/** Characters of a folder's path: every word is resolved from each folder. */
const MAX_FOLDER_LENGTH = 1000;

/** The folders that the commands of a script may run in. */
export class WorkingFolders {
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
   * Adds the folders that a `cd` leads to; without a target it leads home. Later commands may run in the old folders or in
   * the new ones. Returns the new ones, and why it cannot be followed.
   */
  follow(target: ShellWord | undefined): { fresh: readonly string[]; why?: string } {
    if (target?.value === '-') return { fresh: [] };
    const path = target === undefined || target.home ? this.#home : target.value;
    if (path === null || target?.pattern)
      return { fresh: [], why: `The folder that ${target?.text} names is known only at run time.` };
    // Once there are too many folders a person is asked; only absolute paths still matter, which may lead to precious folders.
    if (this.#lostTrack && !path.startsWith('/')) return { fresh: [] };
    const reached = new Set(this.#all.map((folder) => posix.resolve(folder, path)));
    const short = [...reached].filter((folder) => folder.length <= MAX_FOLDER_LENGTH);
    const fresh = short.filter((folder) => !this.#all.includes(folder));
    this.#all = [...fresh, ...this.#all].slice(0, MAX_FOLDERS);
    if (this.#lostTrack) return { fresh: [] };
    this.#lostTrack = this.#all.length === MAX_FOLDERS || ++this.#changes === MAX_CHANGES;
    if (short.length < reached.size)
      return { fresh, why: 'It goes to a folder whose path is too long to be followed.' };
    return this.#lostTrack ? { fresh, why: 'It changes folders too often to be followed.' } : { fresh };
  }

  /** Forgets the folders that were added after these: the commands that went there ran on another machine. */
  returnTo(folders: readonly string[]): void {
    this.#all = folders;
  }
}
