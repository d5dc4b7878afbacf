import { posix } from 'node:path';
import type { ScriptFiles } from '../../kernel/world/commands.ts';
import { type Runner, runnerOf } from '../../shell/script-runners.ts';
import { MAX_PATH_LENGTH, type StartedCommand, walkCommands } from '../../shell/walk-commands.ts';

const MAX_FILES = 250;
const SYSTEM_PROGRAM = /^\/(usr|opt|bin|sbin|lib)\//;

/**
 * Finds the files of the project whose text a command would run, by name: manifests that its programs look for, and scripts
 * that it names. `unclear` says why files may be missing; such a command is never familiar.
 */
export function scriptFiles(command: string, cwd = '.'): ScriptFiles {
  const named = new Set<string>();
  const sought = new Set<string>();
  const climbed = new Set<string>();
  let runs = false;
  let unclear: string | undefined;
  const lost = walkCommands(command, cwd, look);
  if (runs) unclear ??= lost;
  const tooMany = named.size + sought.size > MAX_FILES;
  return {
    named: [...named].slice(0, MAX_FILES),
    sought: [...sought].slice(0, MAX_FILES),
    unclear: tooMany ? 'it runs more scripts than can be checked' : unclear,
  };

  function look(started: StartedCommand): void {
    const { name, folders } = started;
    if (name.includes('/') && !SYSTEM_PROGRAM.test(name)) add(named, name, folders);
    // `uv run x.py` names a script where others name a program.
    else if (/\.(py|[cm]?[jt]s|sh|rb|pl|php)$/.test(name)) add(sought, name, folders);
    const runner = runnerOf(name);
    const isAtWork = runner !== undefined && runsSomething(runner, started);
    if (isAtWork) ask(runner, started);
    runs ||= isAtWork || name.includes('/');
  }

  function ask(runner: Runner, started: StartedCommand): void {
    const { name, args, folders, redirections } = started;
    if (args.some(({ value, pattern }) => value === null || pattern)) {
      unclear ??= `which script ${name} runs is known only at run time`;
      return;
    }
    const given = args.map(({ value }) => value ?? '');
    const asModule = /(^|\/)python[\d.]*$/.test(name) ? given.findIndex((word) => /^-[a-zA-Z]*m$/.test(word)) : -1;
    if (asModule !== -1 && given.slice(0, asModule).every((word) => word.startsWith('-'))) {
      look({ ...started, name: given[asModule + 1] ?? '', args: args.slice(asModule + 2) });
      const module = (given[asModule + 1] ?? '').replaceAll('.', '/');
      for (const file of [`${module}.py`, `${module}/__main__.py`]) add(sought, file, folders);
      return;
    }
    if (runner.elsewhere.some((flag) => given.some((word) => word === flag || word.startsWith(`${flag}=`)))) {
      unclear ??= `${name} runs a script from elsewhere`;
    }
    if (runner.runsFile) {
      if (redirections.some(({ opens }) => opens === 'read')) unclear ??= `${name} runs its input`;
      for (const word of scriptWords(given)) add(sought, word, folders);
    }
    const places = valuesOf(runner.folder, given);
    const files = valuesOf(runner.file, given);
    if ([...places, ...files].some((value) => value === undefined || value === '' || value === '-')) {
      unclear ??= `which script ${name} runs is not known`;
    }
    for (const place of ['', ...places])
      for (const file of files) add(named, posix.join(place ?? '', file ?? ''), folders);
    for (const place of places.length === 0 ? [''] : places) {
      for (const folder of folders) seek(runner, posix.join(folder, place ?? ''));
    }
  }

  function seek({ manifests }: Runner, folder: string): void {
    const key = `${manifests.join()} ${folder}`;
    if (climbed.has(key)) return;
    climbed.add(key);
    if (folder.length > MAX_PATH_LENGTH) {
      unclear ??= 'it goes to a folder with a path that is too long';
      return;
    }
    for (let at = folder; ; at = posix.dirname(at)) {
      for (const manifest of manifests) sought.add(posix.join(at, manifest));
      if (sought.size > MAX_FILES || at === '.' || at === '/' || at === '..' || at.startsWith('../')) return;
    }
  }

  function add(to: Set<string>, file: string, folders: readonly string[]): void {
    for (const folder of folders) to.add(posix.isAbsolute(file) ? file : posix.join(folder, file));
  }
}

/** A program with other uses counts only with a subcommand that runs something. */
function runsSomething({ only }: Runner, { args }: StartedCommand): boolean {
  return only === undefined || args.some(({ value }) => only.includes(value ?? ''));
}

/** The words that may be the script: the first that is no option. Where options come first, each may take a word, so all of them count. */
function scriptWords(given: readonly string[]): string[] {
  const other = given.findIndex((word) => !/^(run|test|task|watch|exec|x)$/.test(word));
  const verbs = given.slice(0, other === -1 ? -1 : other);
  const behind = given.slice(verbs.length);
  const [first = ''] = behind;
  const plain = behind.filter((word) => !word.startsWith('-'));
  if (first !== '' && !first.startsWith('-')) return [...verbs, ...plain.slice(0, 1)];
  const brought = behind.flatMap((word) => (/^-.*=/.test(word) ? [word.slice(word.indexOf('=') + 1)] : []));
  return [...verbs, ...[...plain, ...brought].filter((word) => /^[\w@%+,./ -]+$/.test(word))];
}

/** The values of any of these options: `-C dir`, `-Cdir`, `--directory=dir`. Undefined for an option without a value. */
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
