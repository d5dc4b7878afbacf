import { posix } from 'node:path';
import type { ScriptFiles } from '../kernel/commands.ts';
import { programName } from './commands/judge-command.ts';
import { parseScript, type SimpleCommand } from './commands/shell-script.ts';
import type { ShellWord } from './commands/shell-words.ts';
import { innerCommands } from './commands/wrappers.ts';
import { launched } from './open-ended.ts';
import { RUNNERS, type Runner } from './script-runners.ts';

const DEEPEST = 5;
const MOST_FOLDERS = 8;
const MOST_FILES = 60;

const OF_THE_SYSTEM = /^\/(usr|opt|bin|sbin|lib)\//;

/**
 * The files of the project whose text a command would run, by name: manifests that its programs look for, scripts that it
 * names. Follows wrappers, quotes and `cd`. What it cannot tell it says, and nobody is familiar with that.
 */
export function scriptFiles(command: string, cwd = '.'): ScriptFiles {
  const named = new Set<string>();
  const sought = new Set<string>();
  let unclear: string | undefined;
  let folders = [posix.normalize(cwd)];
  visit(command, 0);
  const tooMany = named.size + sought.size > MOST_FILES;
  return {
    named: [...named].slice(0, MOST_FILES),
    sought: [...sought].slice(0, MOST_FILES),
    unclear: tooMany ? 'it runs more scripts than anybody looks at' : unclear,
  };

  function visit(source: string, depth: number): void {
    for (const { words, redirections } of parseScript(source).commands) look(words, redirections, depth);
  }

  function look(words: readonly ShellWord[], redirections: SimpleCommand['redirections'], depth: number): void {
    const [first, ...args] = words;
    if (first === undefined || first.value === null || depth > DEEPEST) return;
    const name = programName(first.value);
    if (name === 'cd' || name === 'pushd') follow(args);
    for (const inner of innerCommands(name, args)) {
      if (inner.kind === 'script') visit(inner.source, depth + 1);
      if (inner.kind === 'words') look(inner.words, [], depth + 1);
    }
    const behind = launched(name, args);
    if (behind !== undefined) look(behind, redirections, depth + 1);
    if (name.includes('/') && !OF_THE_SYSTEM.test(name)) add(named, name);
    const runner = RUNNERS.get(name.replace(/(?<=^python|^pip)[\d.]+$/, '').replace(/^\.\//, ''));
    if (runner !== undefined) ask(name, runner, args, redirections);
  }

  function ask(
    name: string,
    runner: Runner,
    args: readonly ShellWord[],
    redirections: SimpleCommand['redirections'],
  ): void {
    if (args.some(({ value, pattern }) => value === null || pattern)) {
      unclear ??= `which script ${name} runs is known only at run time`;
      return;
    }
    const given = args.map(({ value }) => value ?? '');
    if (name.startsWith('python') && given[0] === '-m') {
      look(args.slice(1), redirections, DEEPEST);
      const module = (given[1] ?? '').replaceAll('.', '/');
      for (const file of [`${module}.py`, `${module}/__main__.py`]) add(sought, file);
      return;
    }
    if (runner.elsewhere.some((flag) => given.some((word) => word === flag || word.startsWith(`${flag}=`)))) {
      unclear ??= `${name} runs scripts of other folders`;
    }
    if (runner.runsFile) {
      script(name, given, redirections);
      return;
    }
    const places = valuesOf(runner.folder, given);
    const files = valuesOf(runner.file, given);
    if ([...places, ...files].some((value) => value === undefined || value === '' || value === '-')) {
      unclear ??= `which script ${name} runs is not known`;
    }
    for (const place of places) for (const folder of folders) seek(runner, posix.join(folder, place ?? ''));
    for (const place of ['', ...places]) for (const file of files) add(named, posix.join(place ?? '', file ?? ''));
    if (places.length === 0) for (const folder of folders) seek(runner, folder);
  }

  /** The script is the first word that is no option; where there are options before it, each may have brought one along. */
  function script(name: string, given: readonly string[], redirections: SimpleCommand['redirections']): void {
    const plain = given.filter((word) => !word.startsWith('-'));
    const brought = given.flatMap((word) => (/^-.*=/.test(word) ? [word.slice(word.indexOf('=') + 1)] : []));
    const isPlain = given[0] !== undefined && !given[0].startsWith('-');
    for (const word of isPlain ? plain.slice(0, 1) : [...plain, ...brought]) {
      if (/^[\w@%+,./ -]+$/.test(word)) add(sought, word);
    }
    if (redirections.some(({ opens }) => opens === 'read')) unclear ??= `${name} runs what it is given to read`;
  }

  function seek({ manifests }: Runner, folder: string): void {
    for (let at = folder; ; at = posix.dirname(at)) {
      for (const manifest of manifests) sought.add(posix.join(at, manifest));
      if (at === '.' || at === '/' || at.startsWith('..')) return;
    }
  }

  function add(to: Set<string>, file: string): void {
    for (const folder of folders) to.add(posix.isAbsolute(file) ? file : posix.join(folder, file));
  }

  /** It may run or not, so later words are looked up from both folders. */
  function follow(args: readonly ShellWord[]): void {
    const target = args.find(({ text }) => !text.startsWith('-'));
    if (target === undefined) return;
    if (target.value === null || target.pattern) unclear ??= 'where it goes is known only at run time';
    const to = target.value ?? '';
    const next = folders.map((folder) => (posix.isAbsolute(to) ? to : posix.join(folder, to)));
    folders = [...new Set([...folders, ...next])];
    if (folders.length > MOST_FOLDERS) unclear ??= 'it goes to more folders than anybody follows';
    folders = folders.slice(0, MOST_FOLDERS);
  }
}

/** What is given to any of these options: `-C dir`, `-Cdir`, `--directory=dir`. Undefined where nothing is. */
function valuesOf(flags: readonly string[], given: readonly string[]): (string | undefined)[] {
  return given.flatMap((word, at) => {
    for (const flag of flags) {
      if (word === flag) return [given[at + 1]];
      if (flag.startsWith('--') ? word.startsWith(`${flag}=`) : word.startsWith(flag) && !word.startsWith('--')) {
        return [word.slice(flag.length).replace(/^=/, '')];
      }
    }
    return [];
  });
}
