import { posix } from 'node:path';
import { isOneWord } from '../../shell/flags.ts';
import { findInlineScripts } from '../../shell/inline-scripts.ts';
import { parseScript, type SimpleCommand } from '../../shell/parse-script.ts';
import { PREFIXES } from '../../shell/prefixes.ts';
import { programName } from '../../shell/program-name.ts';
import { runnerOf } from '../../shell/script-runners.ts';
import { SHELLS } from '../../shell/shells.ts';
import { operandsAmong, plainWord, type ShellWord } from '../../shell/words.ts';
import { MAX_FOLDER_LENGTH } from '../../shell/working-folders.ts';
import { innerCommands } from '../../shell/wrappers.ts';
import { bracesOf, isOddPattern, namesIn } from './operand-names.ts';
import { mayBeOption } from './refusals/catastrophes.ts';

/** Something in a command that may name files. Whether it does is for the caller to find out. */
export interface Operand {
  readonly path: string;
  readonly deep: Depth;
  /** The shell puts the files it matches in its place. */
  readonly pattern: boolean;
}

/** Whether a command works on all that is in a folder, and on what links in it lead to. */
export type Depth = false | 'as it is' | 'through links';

export interface Start {
  readonly cwd?: string | undefined;
  /** Words that it is given besides. */
  readonly args?: readonly string[] | undefined;
  /** Whether there is one now. Loops are followed into those alone: by their text, they go on for ever. */
  isFolder?(path: string): boolean;
}

export interface Operands {
  readonly names: readonly Operand[];
  /** False: there are more than are named here. */
  readonly complete: boolean;
}

const MOST = 5000;
const MOST_FOLDERS = 16;
/** Changes of folder in one command. */
const MOST_FOLLOWED = 256;
/** How deep scripts are followed into `bash -c` and its kin. */
const DEEPEST = 5;

/** Characters of a command and of the scripts in it: one in another counts in each. */
const MOST_READ = 250_000;

/** Programs that take a folder whole: with it goes whatever is in it by then. */
const WHOLE_FOLDERS = new Set('rm mv rsync chmod chown chgrp shred find fd fdfind tar run-parts'.split(' '));

/** Those that take links for links, whatever they are told. */
const LEAVES_LINKS = new Set(['rm', 'mv', 'shred']);
/** Options that tell other programs to follow symlinks. The rest do, or tell names to somebody who may. */
const FOLLOWING: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(['chmod', 'chown', 'chgrp'].map((name) => [name, /^-[A-Za-z]*L|^--deref/])),
  cp: /^-[A-Za-z]*[LH]|^--de/,
  rsync: /^-[A-Za-z]*[LkK]|^--(?:copy-|keep-d)/,
  tar: /^-[A-Za-z]*h|^--de|^[cru][A-Za-z]*h[A-Za-z]*$/,
};
/** Besides, `find` tells names to whoever reads them, unless it only deletes. */
const FINDS_THROUGH = /^-(?:exec|ok|follow|L$)/;

/** Programs that do so when they are told to. */
const WHOLE_IF_TOLD = new Set(['cp', 'scp', 'zip']);
const TOLD = /^(?:-[A-Za-z]*[rRa]|--recursive$|--archive$)/;

/** Files that interpreters find for a name: `node build` runs build.js, `python -m a.b` runs a/b.py. */
const ALSO_TRIED: Readonly<Record<string, (name: string) => readonly string[]>> = {
  node: (name) => ['.js', '.mjs', '.cjs', '/index.js', '/package.json'].map((end) => name + end),
  python: (name) => ['.py', '/__main__.py', '/__init__.py'].map((end) => name.replaceAll('.', '/') + end),
};

/** How `env` is told to take a text apart. */
const SPLITS = /^(?:-[i0v]*S|--split-string(?:=|$)|--s[a-z-]*=)(.*)$/s;

/** Options after which other names count from another folder, whoever takes them; short ones also behind others: `-sC`. */
const FOLDER_OPTION = /^(?:-[ABE-Za-z]*[CD]|--chd[a-z]*|--dir[a-z]*|--prefix|--cwd|--working-dir[a-z]*)(?:=?(.+))?$/s;

/**
 * Finds the words of a command that may be a file, in any position: words, text behind `=` or a short option, redirections, the
 * values of variables, scripts given to other shells; each also below the folders it may be in by then.
 */
export function operandsOf(command: string, { cwd = '', args = [], isFolder = () => true }: Start = {}): Operands {
  const found = new Map<string, Operand>();
  let folders = [cwd];
  /** In how many of them a name has its place: new ones are added behind the others. */
  const placed = new Map<string, number>();
  let isAgain = false;
  /** Those that a pattern stands for. */
  const matched = new Set<string>();
  let complete = true;
  let followed = 0;
  let read = 0;
  readScript(command, 0);
  for (const each of args) add(plainWord(each), false);
  return { names: [...found.values()], complete };

  function readScript(source: string, depth: number): void {
    read += source.length;
    if (read > MOST_READ && depth > 0) {
      complete = false;
      return;
    }
    const script = parseScript(source);
    if (script.commands.length === 0 && script.problems.length > 0) complete = false;
    for (const { word } of script.values) add(word, false);
    readCommands(script.commands, depth);
    if (depth < DEEPEST)
      for (const given of findInlineScripts(script)) {
        if (given.kind === 'script') readScript(given.source, depth + 1);
        if (given.kind === 'unseen') complete = false;
      }
  }

  /** Commands before a `cd` in a loop or a trap also run after it. */
  function readCommands(commands: readonly SimpleCommand[], depth: number): void {
    const outer = isAgain;
    let before = folders.length;
    for (const each of commands) readCommand(each, depth);
    const repeated = commands.filter(({ repeats }) => repeats);
    while (repeated.length > 0 && folders.length > before) {
      isAgain = true;
      before = folders.length;
      for (const each of repeated) readCommand(each, depth);
    }
    isAgain = outer;
  }

  function readCommand({ words, redirections }: Pick<SimpleCommand, 'words' | 'redirections'>, depth: number): void {
    const programs = words.map(({ value }) => (value === null ? '' : programName(value)));
    follow(programs[0], words);
    const isTold = words.some(({ value }) => TOLD.test(value ?? ''));
    const isWhole = (name: string) => WHOLE_FOLDERS.has(name) || (isTold && WHOLE_IF_TOLD.has(name));
    const whole = [...new Set(programs.filter(isWhole))];
    const deep = whole.length > 0 && (whole.some((name) => follows(name, words)) ? 'through links' : 'as it is');
    if (looksAround(programs, words)) place('.', deep, false);
    const tried = [...new Set(programs.flatMap(alsoTried))];
    const given = [...words, ...redirections.map(({ target }) => target)];
    for (const word of new Map(given.map((each) => [each.text, each])).values()) add(word, deep, tried);
    // Their content decides what runs.
    for (const name of new Set(programs.flatMap((program) => runnerOf(program)?.manifests ?? [])))
      place(name, false, false);
    if (depth < DEEPEST) readSplit(words.slice(programs.indexOf('env') + 1 || words.length), depth);
    programs.forEach((name, at) => {
      if (depth >= DEEPEST || !(SHELLS.has(name) || name === 'eval' || name === 'trap')) return;
      if (read > MOST_READ) {
        complete = false;
        return;
      }
      for (const inner of innerCommands(name, words.slice(at + 1)))
        if (inner.kind === 'script') readScript(inner.source, depth + 1);
    });
  }

  /** `env -S 'sh x'`: its text is words to it. */
  function readSplit(args: readonly ShellWord[], depth: number): void {
    const at = args.findIndex(({ value }) => SPLITS.test(value ?? ''));
    const [option, ...behind] = args.slice(at);
    if (at === -1 || option === undefined) return;
    const [, glued = ''] = SPLITS.exec(option.value ?? '') ?? [];
    const [text, rest] = glued === '' ? [behind[0]?.value ?? '', behind.slice(1)] : [glued, behind];
    read += text.length;
    // Quotes, variables and escapes mean to it what they mean to nobody else.
    if (read > MOST_READ || /[\\$"'#]/.test(text)) complete = false;
    if (read > MOST_READ) return;
    const words = [plainWord('env'), ...text.split(/\s+/).filter(Boolean).map(plainWord), ...rest];
    readCommand({ words, redirections: [] }, depth + 1);
  }

  /** A `cd` may run or not, so what comes later is looked at in the old folders and in the new ones. */
  function follow(program: string | undefined, words: readonly ShellWord[]): void {
    const isChange = program === 'cd' || program === 'pushd';
    const entered = new Set(isChange ? operandsAmong(words.slice(1)) : []);
    const targets = words.flatMap(({ value, pattern }, at) => {
      if (value !== null && value !== '-' && entered.has(words[at] as ShellWord)) return [{ path: value, pattern }];
      const option = FOLDER_OPTION.exec(value ?? '');
      if (option === null) return [];
      const { value: behind, pattern: isPattern } = words[at + 1] ?? { value: '', pattern: false };
      return [option[1] === undefined ? { path: behind ?? '', pattern: isPattern } : { path: option[1], pattern }];
    });
    for (const { path: target, pattern } of targets) {
      if (++followed > MOST_FOLLOWED) {
        complete = false;
        return;
      }
      const next = folders.map((folder) => [folder, below(folder, target)] as const);
      for (const [from, to] of next) if (pattern || matched.has(from)) matched.add(to);
      const fresh = next.map(([, to]) => to).filter((to) => !isAgain || matched.has(to) || isFolder(to));
      const all = [...new Set([...folders, ...fresh])];
      const short = all.filter((folder) => folder.length <= MAX_FOLDER_LENGTH);
      if (short.length < all.length || short.length > MOST_FOLDERS) complete = false;
      folders = short.slice(0, MOST_FOLDERS);
    }
  }

  function add(word: ShellWord, deep: Depth, tried: readonly ((name: string) => readonly string[])[] = []): void {
    if (isOddPattern(word)) complete = false;
    const name = word.value ?? bracesOf(word);
    if (name === undefined) return;
    for (const each of namesIn(name)) {
      place(each, deep, word.pattern || word.value === null);
      for (const more of tried.flatMap((variants) => variants(each))) place(more, false, false);
    }
  }

  function place(name: string, deep: Depth, pattern: boolean): void {
    const key = `${deep} ${pattern} ${name}`;
    const fresh = folders.slice(placed.get(key) ?? 0);
    placed.set(key, folders.length);
    for (const folder of fresh) {
      const path = folder === '' || name.startsWith('/') ? name : `${folder}/${name}`;
      const known = found.get(path);
      const isPattern = pattern || known?.pattern === true || matched.has(folder);
      if (found.size >= MOST && known === undefined) complete = false;
      else
        found.set(path, {
          path,
          deep: known?.deep === 'through links' ? known.deep : deep || known?.deep || false,
          pattern: isPattern,
        });
    }
  }
}

/** Also with a version behind it: `python3.11`. */
function alsoTried(program: string): readonly ((name: string) => readonly string[])[] {
  const name = program.replace(/(?<![\d.])[\d.]+$/, '');
  return Object.hasOwn(ALSO_TRIED, name) ? [ALSO_TRIED[name] as (name: string) => readonly string[]] : [];
}

function follows(name: string, words: readonly ShellWord[]): boolean {
  if (LEAVES_LINKS.has(name)) return false;
  if (name === 'find')
    return words.every(({ seen }) => seen !== '-delete') || words.some(({ seen }) => FINDS_THROUGH.test(seen));
  const told = FOLLOWING[name];
  return told === undefined || words.some((word) => told.test(word.seen) || mayBeTold(word));
}

/** A computed word may be any option, or several. */
function mayBeTold(word: ShellWord): boolean {
  return !isOneWord(word) || mayBeOption(word);
}

/** Without a folder, `find` looks in the one it is in; and so may `fd`, which is told a folder behind other words. */
function looksAround(programs: readonly string[], words: readonly ShellWord[]): boolean {
  const isWrapped = Object.hasOwn(PREFIXES, programs[0] ?? '');
  const isToldToRun = words.some(({ seen }) => /^-(?:[xX]|[A-Za-z]*[xX]$|-exec)/.test(seen));
  return programs.some((name, at) => {
    const mayStart = at === 0 || isWrapped;
    if (name === 'fd' || name === 'fdfind') return mayStart || isToldToRun;
    if (name !== 'find' || !(mayStart || /^[-(!]/.test(words[at + 1]?.seen ?? ''))) return false;
    const next = words.slice(at + 1, at + 5).find(({ seen }) => !/^-[LHP]$/.test(seen));
    return /^(?:[-(!].*)?$/s.test(next?.seen ?? '');
  });
}

function below(folder: string, path: string): string {
  const joined = posix.isAbsolute(path) ? path : posix.join(folder, path);
  return joined === '.' ? '' : joined;
}
