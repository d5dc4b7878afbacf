import { posix } from 'node:path';
import { programName } from '../shell/program-name.ts';
import { parseScript, type SimpleCommand } from '../shell/parse-script.ts';
import { operandsAmong, type ShellWord } from '../shell/words.ts';
import { innerCommands } from '../shell/wrappers.ts';

/** A program that a script starts, and the folders in which that may be. */
export interface Started {
  readonly name: string;
  readonly args: readonly ShellWord[];
  readonly folders: readonly string[];
  readonly redirections: SimpleCommand['redirections'];
}

const DEEPEST = 5;
/** The most characters that a system takes for a path. */
export const LONGEST_PATH = 4096;
const MOST_FOLDERS = 8;
/** Changes of folder in one script. */
const MOST_FOLLOWED = 256;
/** Characters of a script and of those in it: one in another counts in each. */
const MOST_READ = 250_000;
/** Of one command, with all that it may start. */
const MOST_STARTED = 64;

/**
 * Every program that a script starts, also behind wrappers and launchers, in quotes and after `cd`. Returns why folders
 * are not all known, if they are not.
 */
export function walkCommands(source: string, cwd: string, visitor: (started: Started) => void): string | undefined {
  let folders = [posix.normalize(cwd)];
  let lost: string | undefined;
  let started = 0;
  let followed = 0;
  let read = 0;
  visit(source, 0);
  return lost;

  function visit(text: string, depth: number): void {
    read += text.length;
    if (read > MOST_READ && depth > 0) {
      lost ??= 'it holds more scripts in each other than anybody looks at';
      return;
    }
    const { commands } = parseScript(text);
    // What stands before a `cd` in a loop, or in a trap, also runs behind it.
    const repeated = commands.filter(({ repeats }) => repeats);
    let before = folders.length;
    lookAll(commands, depth);
    while (repeated.length > 0 && folders.length > before) {
      before = folders.length;
      lookAll(repeated, depth);
    }
  }

  function lookAll(commands: readonly SimpleCommand[], depth: number): void {
    for (const { words, redirections } of commands) {
      if (depth === 0) started = 0;
      look(words, redirections, depth);
    }
  }

  function look(words: readonly ShellWord[], redirections: Started['redirections'], depth: number): void {
    const [first, ...args] = words;
    if (first === undefined || first.value === null || depth > DEEPEST) return;
    if (++started > MOST_STARTED) {
      lost ??= 'it may start more programs than anybody follows';
      return;
    }
    const name = programName(first.value);
    if (name === 'cd' || name === 'pushd') follow(operandsAmong(args)[0]);
    for (const inner of innerCommands(name, args)) {
      if (inner.kind === 'script') visit(inner.source, depth + 1);
      if (inner.kind !== 'words') continue;
      if (inner.folder !== undefined) follow(inner.folder);
      look(inner.words, inner.loose ? redirections : [], depth + 1);
    }
    visitor({ name, args, folders, redirections });
  }

  /** It may run or not, so later words are looked up from both folders. */
  function follow(target: ShellWord | undefined): void {
    if (target === undefined || target.value === '-') return;
    if (++followed > MOST_FOLLOWED) {
      lost ??= MANY_FOLDERS;
      return;
    }
    if (target.value === null || target.pattern) lost ??= 'where it goes is known only at run time';
    const to = target.value ?? '';
    const next = folders.map((folder) => (posix.isAbsolute(to) ? to : posix.join(folder, to)));
    const short = next.filter((folder) => folder.length <= LONGEST_PATH);
    if (short.length < next.length) lost ??= 'it goes to a folder whose path is longer than any';
    folders = [...new Set([...folders, ...short])];
    if (folders.length > MOST_FOLDERS) lost ??= MANY_FOLDERS;
    folders = folders.slice(0, MOST_FOLDERS);
  }
}

const MANY_FOLDERS = 'it goes to more folders than anybody follows';
