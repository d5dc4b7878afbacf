import { posix } from 'node:path';
import { onlyReads } from '../../kernel/world/project-files.ts';
import type { CommandPlan, CommandUse } from '../../shell/command-plan.ts';
import { programName } from '../../shell/program-name.ts';
import type { ShellWord } from '../../shell/words.ts';

/** Programs that run the files among their words. */
export const INTERPRETERS =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy\d*|ruby|perl|php|lua|luajit|r|rscript|julia|java|groovy|scala|osascript|pwsh|tclsh|guile|racket|bash|sh|dash|zsh|ksh|fish|source|\.|eval)$/;
/** Programs that run the command among their words. */
export const WRAPPERS = /^(?:npx|bunx|env|exec|nohup|time|timeout|xargs|sudo)$/;
/** Options that name a file which is loaded. */
export const LOADING =
  /^--?(?:c|f|r|p|I|config|conf|configuration|file|require|import|loader|experimental-loader|setup\w*|preset|plugin\w*|project|rcfile|init-file|makefile|rulesdir|resolver|script|env-file)$/i;
/** Options of interpreters behind which code stands. */
const CODE = /^-(?:e|c|p|pe|r|-eval|-print)$/;

/**
 * Returns a test for the files that a script in a folder runs or loads by name: its programs, the files given to interpreters, and those that
 * options load. It takes more files than are run rather than fewer.
 */
export function filesNamedBy({ source, uses }: CommandPlan, folder: string): (path: string) => boolean {
  const words = uses.flatMap((use) => (use.isOpened ? [] : [...pathsRunBy(seenIn(use.words)), ...inputsOf(use, uses)]));
  if (words.length === 0) return () => false;
  const isAnywhere = changesFolder(source);
  const exact = words.map((word) => posix.normalize(posix.join(folder, word)).toLowerCase());
  const ends = isAnywhere
    ? words.map((word) =>
        posix
          .normalize(word)
          .replace(/^(?:\.\.?\/)+/, '')
          .toLowerCase(),
      )
    : [];
  return (path) => {
    const lower = path.toLowerCase();
    return (
      exact.some((word) => isNamed(lower, word)) || ends.some((word) => isNamed(lower, word) || endsIn(lower, word))
    );
  };
}

/** Whether a script may change folders, so that a name in it counts in each of them. */
export function changesFolder(source: string): boolean {
  return /\b(?:cd|pushd|chdir)\b|(?:^|\s)(?:-C|--prefix|--cwd|--dir|--directory|--workspaces?|-w)(?:[\s=]|$)/.test(
    source,
  );
}

/** An interpreter without a file runs its input: the file of a redirection, or what the commands beside it print. */
function inputsOf({ name, args, redirections }: CommandUse, uses: readonly CommandUse[]): string[] {
  if (name === null || !INTERPRETERS.test(name) || args.some(({ seen }) => isPath(seen))) return [];
  const opened = redirections.map(({ target }) => target.seen);
  const printed = uses.flatMap((other) => (other.name === name ? [] : seenIn(other.words.slice(1))));
  return [...opened, ...printed].filter(isPath);
}

function seenIn(words: readonly ShellWord[]): string[] {
  return words.map(({ seen }) => seen);
}

/** A word names a file, a file without its ending, one that leads to it, or the index of a folder. */
function isNamed(path: string, word: string): boolean {
  if (path === word || word.startsWith(`${path}/`)) return true;
  if (!path.startsWith(word)) return false;
  return /^(?:\.[\w]{1,5}|\/(?:index|__main__|__init__|main)\.\w{1,5})$/.test(path.slice(word.length));
}

function endsIn(path: string, word: string): boolean {
  const at = path.lastIndexOf(`/${word}`);
  return at !== -1 && isNamed(path.slice(at + 1), word);
}

/** A text with blanks in it may be a script as well. */
function pathsRunBy(words: readonly string[]): string[] {
  const [first = '', ...rest] = words;
  const name = programName(first);
  const from = words.findIndex((word) => runsFiles(programName(word)));
  const ran = from === -1 ? [] : words.slice(from + 1);
  const modules = from === -1 ? [] : ran.flatMap((word, at) => moduleFiles(word, ran[at + 1]));
  const code = from === -1 ? [] : ran.flatMap((word, at) => (CODE.test(ran[at - 1] ?? '') ? loadedByCode(word) : []));
  const byDefault =
    /^(?:npm|pnpm)$/.test(name) && rest.some((word) => /^(?:re)?start$/.test(word)) ? ['server.js'] : [];
  const loaded = onlyReads(name) ? [] : rest.flatMap((word, at) => loadedBy(word, rest[at + 1]));
  const lines = rest.flatMap((word) => (/\s/.test(word) ? word.split(/[;|&\n]+/) : []));
  const inner = lines.flatMap((line) => pathsRunBy(line.split(/[\s"'`()]+/).filter(Boolean)));
  return [
    ...(first.includes('/') ? [first] : []),
    ...ran,
    ...modules,
    ...code,
    ...loaded,
    ...inner,
    ...byDefault,
  ].filter(isPath);
}

function runsFiles(program: string): boolean {
  return INTERPRETERS.test(program) || WRAPPERS.test(program);
}

/** The files that code may name: each of its texts and names, as in `require('./tools/x')` and `import tools.x`. */
function loadedByCode(code: string): string[] {
  return code.split(/[\s"'`(),;]+/).flatMap((text) => [text, text.replaceAll('.', '/')]);
}

/** The places of a module that Python is told to run (`-m tools.build`), and of the packages that it is in. */
function moduleFiles(word: string, next: string | undefined): string[] {
  const [, own = ''] = /^-m(.*)$/s.exec(word) ?? [];
  if (!word.startsWith('-m')) return [];
  const parts = (own || (next ?? '')).split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

function loadedBy(word: string, next: string | undefined): string[] {
  const [option = '', value] = word.split('=', 2);
  if (!LOADING.test(option)) return [];
  return [value ?? next ?? ''];
}

function isPath(word: string): boolean {
  return word !== '' && word !== '.' && !word.startsWith('-') && word.length < 1000;
}
