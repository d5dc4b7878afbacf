import { posix } from 'node:path';
import { parseScript } from './parse-script.ts';
import { programName } from './program-name.ts';
import type { SimpleCommand } from './simple-command.ts';
import { operandsAmong, type ShellWord } from './words.ts';
import { innerCommands } from './wrappers.ts';

/** A program that a script starts, and the folders in which it may run. */
export interface StartedCommand {
  readonly name: string;
  readonly args: readonly ShellWord[];
  readonly folders: readonly string[];
  readonly redirections: SimpleCommand['redirections'];
}

const MAX_DEPTH = 5;
/** The longest path that systems accept. */
const MAX_PATH_LENGTH = 4096;
const MAX_FOLDERS = 8;
const MAX_FOLDER_CHANGES = 256;
/** Characters of a script and of the scripts in it: a nested script counts at each level. */
const MAX_CHARACTERS = 250_000;
/** Programs that one command may start. */
const MAX_STARTED = 64;

/** Visits the programs that a script starts, also behind wrappers and launchers, in quotes and after `cd`; not more than can be followed. */
export function walkCommands(source: string, cwd: string, visitor: (started: StartedCommand) => void): void {
  let folders = [posix.normalize(cwd)];
  let started = 0;
  let followed = 0;
  let read = 0;
  visit(source, 0);

  function visit(text: string, depth: number): void {
    read += text.length;
    if (read > MAX_CHARACTERS && depth > 0) return;
    const { commands } = parseScript(text);
    // A command before a `cd` in a loop or a trap also runs after it.
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

  function look(words: readonly ShellWord[], redirections: StartedCommand['redirections'], depth: number): void {
    const [first, ...args] = words;
    if (first === undefined || first.value === null || depth > MAX_DEPTH) return;
    if (++started > MAX_STARTED) return;
    const name = programName(first.value);
    if (name === 'cd' || name === 'pushd') follow(operandsAmong(args)[0]);
    for (const inner of innerCommands(name, args)) {
      if (inner.kind === 'script') visit(inner.source, depth + 1);
      if (inner.kind !== 'words') continue;
      if (inner.folder !== undefined) follow(inner.folder);
      look(inner.words, [], depth + 1);
    }
    visitor({ name, args, folders, redirections });
  }

  /** A `cd` may run or not, so later words are resolved from both folders. */
  function follow(target: ShellWord | undefined): void {
    if (target === undefined || target.value === '-') return;
    if (++followed > MAX_FOLDER_CHANGES) return;
    const to = target.value ?? '';
    const next = folders.map((folder) => (posix.isAbsolute(to) ? to : posix.join(folder, to)));
    const short = next.filter((folder) => folder.length <= MAX_PATH_LENGTH);
    folders = [...new Set([...folders, ...short])].slice(0, MAX_FOLDERS);
  }
}
