import { posix } from 'node:path';
import type { ScriptFiles } from '../kernel/commands.ts';
import { RUNNERS, type Runner } from './script-runners.ts';
import { type Started, walkCommands } from './walk-commands.ts';

const MOST_FILES = 60;
const OF_THE_SYSTEM = /^\/(usr|opt|bin|sbin|lib)\//;

/**
 * The files of the project whose text a command would run, by name: manifests that its programs look for, scripts that it
 * names. What it cannot tell it says, and nobody is familiar with that.
 */
export function scriptFiles(command: string, cwd = '.'): ScriptFiles {
  const named = new Set<string>();
  const sought = new Set<string>();
  let runs = false;
  let unclear: string | undefined;
  const lost = walkCommands(command, cwd, look);
  if (runs) unclear ??= lost;
  const tooMany = named.size + sought.size > MOST_FILES;
  return {
    named: [...named].slice(0, MOST_FILES),
    sought: [...sought].slice(0, MOST_FILES),
    unclear: tooMany ? 'it runs more scripts than anybody looks at' : unclear,
  };

  function look(started: Started): void {
    const { name, folders } = started;
    if (name.includes('/') && !OF_THE_SYSTEM.test(name)) add(named, name, folders);
    const runner = RUNNERS.get(name.replace(/(?<=^python|^pip)[\d.]+$/, '').replace(/^\.\//, ''));
    if (runner !== undefined) ask(runner, started);
    runs ||= runner !== undefined || name.includes('/');
  }

  function ask(runner: Runner, started: Started): void {
    const { name, args, folders, redirections } = started;
    if (args.some(({ value, pattern }) => value === null || pattern)) {
      unclear ??= `which script ${name} runs is known only at run time`;
      return;
    }
    const given = args.map(({ value }) => value ?? '');
    if (name.startsWith('python') && given[0] === '-m') {
      look({ ...started, name: given[1] ?? '', args: args.slice(2) });
      const module = (given[1] ?? '').replaceAll('.', '/');
      for (const file of [`${module}.py`, `${module}/__main__.py`]) add(sought, file, folders);
      return;
    }
    if (runner.elsewhere.some((flag) => given.some((word) => word === flag || word.startsWith(`${flag}=`)))) {
      unclear ??= `${name} runs scripts of other folders`;
    }
    if (runner.runsFile) {
      if (redirections.some(({ opens }) => opens === 'read')) unclear ??= `${name} runs what it is given to read`;
      for (const word of scriptWords(given)) add(sought, word, folders);
      return;
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
    for (let at = folder; ; at = posix.dirname(at)) {
      for (const manifest of manifests) sought.add(posix.join(at, manifest));
      if (at === '.' || at === '/' || at.startsWith('..')) return;
    }
  }

  function add(to: Set<string>, file: string, folders: readonly string[]): void {
    for (const folder of folders) to.add(posix.isAbsolute(file) ? file : posix.join(folder, file));
  }
}

/** The script is the first word that is no option; where there are options before it, each may have brought one along. */
function scriptWords(given: readonly string[]): string[] {
  const plain = given.filter((word) => !word.startsWith('-'));
  if (given[0] !== undefined && !given[0].startsWith('-')) return plain.slice(0, 1);
  const brought = given.flatMap((word) => (/^-.*=/.test(word) ? [word.slice(word.indexOf('=') + 1)] : []));
  return [...plain, ...brought].filter((word) => /^[\w@%+,./ -]+$/.test(word));
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
