import { posix } from 'node:path';
import { isListed, spellingsOf } from '../shell/spellings.ts';
import { walkCommands } from '../shell/walk-commands.ts';
import { wordGlobMatcher } from '../shell/word-glob.ts';
import type { ShellWord } from '../shell/words.ts';
import { isGitConfig } from './credentials.ts';

/** Subcommands that print settings of the repository, such as the addresses of remotes. */
const PRINTING_SUBCOMMANDS = new Set(['remote', 'config', 'ls-remote']);
/** Programs that print nothing of the content of a file. */
const NAME_ONLY_PROGRAMS = new Set(['cd', 'du', 'ls', 'mkdir', 'stat', 'test', '[', 'tree']);

/** The git configurations that a command may print, if they exist: files that it names, and those that git reads. */
export function configsPrinted(command: string, cwd = '.'): readonly string[] {
  const found = new Set<string>();
  const climbed = new Set<string>();
  walkCommands(command, cwd, ({ name, args, folders, redirections }) => {
    const prints = name === 'git' && printsSettings(args);
    const words = NAME_ONLY_PROGRAMS.has(name) ? [] : [...args, ...redirections.map(({ target }) => target)];
    for (const folder of folders) {
      if (prints && !climbed.has(folder)) {
        climbed.add(folder);
        for (const above of withFoldersAbove(folder)) found.add(posix.join(above, '.git/config'));
      }
      const inGit = /git/i.test(folder);
      for (const word of words) {
        if (!inGit && !word.pattern && !/git/i.test(word.value ?? '')) continue;
        const path = configNamed(word, folder);
        if (path !== undefined) found.add(path);
      }
    }
  });
  return [...found];
}

/** Decides by the subcommand. A computed word in front of it may itself be one. */
function printsSettings(args: readonly ShellWord[]): boolean {
  let at = 0;
  for (let value = args[at]?.value; value?.startsWith('-'); value = args[at]?.value) {
    at += isListed(value, spellingsOf('git').takes) && args[at + 1]?.value !== null ? 2 : 1;
  }
  const subcommand = args[at]?.value;
  if (subcommand === null) return true;
  return PRINTING_SUBCOMMANDS.has(subcommand ?? '') && !(subcommand === 'config' && setsValue(args.slice(at + 1)));
}

/** True for `git config user.name x`, which prints nothing; with one word more or less it may print. */
function setsValue(args: readonly ShellWord[]): boolean {
  const [key, set, ...more] = args.filter(({ seen }) => !/^--(?:local|global|system|worktree)$/.test(seen));
  const isKey = /^\w[\w-]*\./.test(key?.value ?? '');
  return isKey && /^[^-]/.test(set?.value ?? '') && set?.pattern === false && more.length === 0;
}

/** The configuration file that a word names, or the one in a `.git` folder that it names as a whole or by a pattern. */
function configNamed({ value, pattern }: ShellWord, folder: string): string | undefined {
  const path = value === null ? '' : posix.join(folder, pattern ? withGit(value) : value);
  if (isGitConfig(path)) return path;
  const [, inside] = /^(.*\.git)(?:\/.*)?$/is.exec(path) ?? [];
  return inside !== undefined && (pattern || /\.git\/?$/i.test(path)) ? `${inside}/config` : undefined;
}

/** `.g*` and `.[a-z]*` match `.git` too. */
function withGit(path: string): string {
  const mayBeGit = (part: string) => /^\..*[*?[]/s.test(part) && wordGlobMatcher(part)('.git');
  return path
    .split('/')
    .map((part) => (mayBeGit(part) ? '.git' : part))
    .join('/');
}

function withFoldersAbove(folder: string): string[] {
  const names = folder.split('/');
  return names.map((_, index) => names.slice(0, names.length - index).join('/') || '/').concat('.');
}
