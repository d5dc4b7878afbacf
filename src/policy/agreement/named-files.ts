import { posix } from 'node:path';
import { onlyReads } from '../../kernel/world/project-files.ts';
import type { CommandPlan } from '../../shell/command-plan.ts';
import { programName } from '../../shell/program-name.ts';

/** Programs that run the files among their words. */
const INTERPRETERS =
  /^(?:node|nodejs|bun|bunx|deno|tsx|ts-node|npx|python[\d.]*|pypy\d*|ruby|perl|php|lua|luajit|r|rscript|julia|java|groovy|scala|osascript|pwsh|tclsh|guile|racket|bash|sh|dash|zsh|ksh|fish|source|\.|env|exec|eval|nohup|time|timeout|xargs|sudo)$/;
/** Options that name a file which is loaded. */
const LOADING =
  /^--?(?:c|f|r|p|I|config|conf|configuration|file|require|import|loader|experimental-loader|setup\w*|preset|plugin\w*|project|rcfile|init-file|makefile|rulesdir|resolver|script|env-file)$/i;

/**
 * Returns a test for the files that a script in a folder runs or loads by name: its programs, the files given to interpreters, and those that
 * options load. It takes more files than are run rather than fewer.
 */
export function filesNamedBy({ source, uses }: CommandPlan, folder: string): (path: string) => boolean {
  const words = uses.flatMap(({ words, isOpened }) => (isOpened ? [] : pathsRunBy(words.map(({ seen }) => seen))));
  if (words.length === 0) return () => false;
  // Where a script changes folders, a name counts in each of them.
  const isAnywhere =
    /\b(?:cd|pushd|chdir)\b|(?:^|\s)(?:-C|--prefix|--cwd|--dir|--directory|--workspaces?|-w)(?:[\s=]|$)/.test(source);
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
  const from = words.findIndex((word) => INTERPRETERS.test(programName(word)));
  const ran = from === -1 ? [] : words.slice(from + 1);
  const loaded = onlyReads(name) ? [] : rest.flatMap((word, at) => loadedBy(word, rest[at + 1]));
  const lines = rest.flatMap((word) => (/\s/.test(word) ? word.split(/[;|&\n]+/) : []));
  const inner = lines.flatMap((line) => pathsRunBy(line.split(/[\s"'`()]+/).filter(Boolean)));
  return [...(first.includes('/') ? [first] : []), ...ran, ...loaded, ...inner].filter(isPath);
}

function loadedBy(word: string, next: string | undefined): string[] {
  const [option = '', value] = word.split('=', 2);
  if (!LOADING.test(option)) return [];
  return [value ?? next ?? ''];
}

function isPath(word: string): boolean {
  return word !== '' && word !== '.' && !word.startsWith('-') && word.length < 1000;
}
