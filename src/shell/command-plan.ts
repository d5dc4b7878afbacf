import { isDataProgram } from './inside-readings.ts';
import { MAX_COMMANDS, parseScript, type ShellScript } from './parse-script.ts';
import { programName } from './program-name.ts';
import type { SimpleCommand } from './simple-command.ts';
import { knownWord, type ShellWord } from './words.ts';
import { innerCommands, isTransparent, MAX_WRAPPERS, SHELLS } from './wrappers.ts';

/** One command that a script names: by itself, behind a wrapper, or in a text that it gives to a shell. */
export interface CommandUse extends SimpleCommand {
  /** The program; null where none runs, and where it is known only at run time. */
  readonly name: string | null;
  readonly args: readonly ShellWord[];
  /** The commands that it runs are uses of their own. */
  readonly isOpened: boolean;
  /** It only starts those, and adds nothing. */
  readonly isWrapper: boolean;
}

/** The names of a command's program and of those that it wraps, outermost first and without their folders. */
export type ProgramNames = (command: SimpleCommand) => readonly string[];

/** All that is known of a script from its words. It is made once for a call, and every judgement is a filter over it. */
export interface CommandPlan {
  readonly source: string;
  readonly uses: readonly CommandUse[];
  /** All words are known, and every shell reads them alike: only then an allow rule counts. */
  readonly isPlain: boolean;
  /** The parts that cannot be known before it runs. */
  readonly why: readonly { readonly text: string; readonly reason: string }[];
  /** The script itself and those that it gives to shells. */
  readonly scripts: readonly ShellScript[];
  /** Texts that are too much to be read as commands. */
  readonly unread: readonly string[];
  /** None for a command that is no use of its own, because there are too many. */
  readonly namesOf: ProgramNames;
}

/** How deep scripts may nest inside `bash -c`, `eval` and the like. */
const MAX_DEPTH = 4;
/** Characters of all scripts inside others. */
const MAX_INNER_CHARACTERS = 30_000;
/** Shells that read a plain script as bash does. */
const LIKE_BASH = /^(?:r?bash|da?sh|a?sh)$/;
/** Programs besides shells that run commands which they are given to read. */
const READERS = new Set(['.', 'source', 'eval', 'at', 'batch', 'crontab', 'make', 'gmake']);

interface UsePlace {
  readonly depth: number;
  readonly wrappers: number;
  readonly input: string | undefined;
  readonly names: string[];
}

/** Reads every command that a script names, as far as its words are known before it runs. */
export function readCommandPlan(source: string): CommandPlan {
  const uses: CommandUse[] = [];
  const why: { text: string; reason: string }[] = [];
  const scripts: ShellScript[] = [];
  const unread: string[] = [];
  const namesByCommand = new Map<SimpleCommand, string[]>();
  const namesOf: ProgramNames = (command) => namesByCommand.get(command) ?? [];
  let isPlain = true;
  let left = MAX_INNER_CHARACTERS;
  readScript(source, 0);
  return { source, uses, isPlain, why, scripts, unread, namesOf };

  function readScript(text: string, depth: number, shell = 'bash'): void {
    const script = parseScript(text);
    scripts.push(script);
    isPlain &&= script.isPlain;
    for (const reason of script.problems) why.push({ text, reason });
    if (script.isUnread) unread.push(text);
    if (shell !== 'bash' && !(script.isPlain && LIKE_BASH.test(shell)))
      why.push({ text, reason: `${shell} may parse it differently from bash` });
    const room = Math.max(0, MAX_COMMANDS - uses.length);
    for (const command of script.commands.slice(0, room)) {
      const names: string[] = [];
      namesByCommand.set(command, names);
      readWords(command, { depth, wrappers: 0, input: command.input, names });
    }
    if (script.commands.length > room) giveUp(text, 'it has more commands than can be checked');
    for (const given of givenTexts(script, namesOf)) readInner(given, depth);
  }

  function readInner(text: string, depth: number, shell?: string): void {
    left -= text.length;
    if (depth < MAX_DEPTH && left >= 0) readScript(text, depth + 1, shell);
    else giveUp(text, 'it nests more scripts than can be checked');
  }

  function giveUp(text: string, reason: string): void {
    isPlain = false;
    why.push({ text, reason });
    unread.push(text);
  }

  function readWords(command: SimpleCommand, place: UsePlace): void {
    const { text, words } = command;
    const [first, ...args] = words;
    const name = first === undefined || knownWord(first) === null ? null : programName(first.value ?? '');
    if (name !== null) place.names.push(name.slice(name.lastIndexOf('/') + 1));
    const inner = name === null ? [] : innerCommands(name, args);
    const isOpened = inner.some(({ kind }) => kind !== 'unseen');
    uses.push({ ...command, name, args, isOpened, isWrapper: name !== null && isTransparent(name, inner) });
    for (const one of inner) {
      if (one.kind === 'unseen') why.push({ text, reason: one.why });
      else if (one.kind === 'script') readInner(one.source, place.depth, one.shell);
      else if (place.wrappers >= MAX_WRAPPERS) giveUp(text, 'it nests too deep to be judged');
      else readWords(innerCommand(one.words, place.input), { ...place, wrappers: place.wrappers + 1 });
    }
  }
}

function innerCommand(words: readonly ShellWord[], input: string | undefined): SimpleCommand {
  return { text: words.map(({ text }) => text).join(' '), words, assignments: [], redirections: [], input };
}

/** Text that a shell may be given to read: by a heredoc, a here-string, or an `echo` in front of it. */
function givenTexts({ commands }: ShellScript, namesOf: ProgramNames): readonly string[] {
  const readers = commands.filter((command) => namesOf(command).some((name) => SHELLS.has(name) || READERS.has(name)));
  return readers.length === 0 ? [] : [...readers.flatMap(({ input }) => input ?? []), ...commands.flatMap(printedBy)];
}

function printedBy({ words: [first, ...words], input }: SimpleCommand): string[] {
  if (first?.value === null || !isDataProgram(first?.value ?? '')) return [];
  if (input !== undefined) return [input];
  if (!/^(echo|printf)$/.test(first?.value ?? '')) return [];
  const text = words.map(({ value }) => value ?? '').join(' ');
  return [text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')];
}
