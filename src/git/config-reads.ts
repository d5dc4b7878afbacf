import { posix } from 'node:path';
import { isGitConfig } from '../kernel/git-credentials.ts';
import { globMatcher } from '../policy/commands/glob.ts';
import type { ShellWord } from '../shell/words.ts';
import { isListed, spellingsOf } from '../shell/spellings.ts';
import { walkCommands } from '../policy/walk-commands.ts';

/** Subcommands that print settings of the repository, such as the addresses of remotes. */
const PRINTING = new Set(['remote', 'config', 'ls-remote']);
/** Programs that tell nothing of what is in a file. */
const ABOUT_NAMES = new Set(['cd', 'du', 'ls', 'mkdir', 'stat', 'test', '[', 'tree']);

/** Configurations of git that a command may print, if they are there: files that it names, and those that git reads. */
export function gitConfigs(command: string, cwd = '.'): readonly string[] {
  const found = new Set<string>();
  const climbed = new Set<string>();
  walkCommands(command, cwd, ({ name, args, folders, redirections }) => {
    const prints = name === 'git' && printsSettings(args);
    const words = ABOUT_NAMES.has(name) ? [] : [...args, ...redirections.map(({ target }) => target)];
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

/** By its subcommand. A computed word in front of that may hold one. */
function printsSettings(args: readonly ShellWord[]): boolean {
  let at = 0;
  for (let value = args[at]?.value; value?.startsWith('-'); value = args[at]?.value) {
    at += isListed(value, spellingsOf('git').takes) && args[at + 1]?.value !== null ? 2 : 1;
  }
  const subcommand = args[at]?.value;
  if (subcommand === null) return true;
  return PRINTING.has(subcommand ?? '') && !(subcommand === 'config' && setsOne(args.slice(at + 1)));
}

/** `git config user.name x` says nothing; with one word more or less it may. */
function setsOne(args: readonly ShellWord[]): boolean {
  const [key, set, ...more] = args.filter(({ seen }) => !/^--(?:local|global|system|worktree)$/.test(seen));
  const isKey = /^\w[\w-]*\./.test(key?.value ?? '');
  return isKey && /^[^-]/.test(set?.value ?? '') && set?.pattern === false && more.length === 0;
}

/** The file itself, or the one in a folder of git that is named as a whole or by a pattern. */
function configNamed({ value, pattern }: ShellWord, folder: string): string | undefined {
  const path = value === null ? '' : posix.join(folder, pattern ? withGit(value) : value);
  if (isGitConfig(path)) return path;
  const [, inside] = /^(.*\.git)(?:\/.*)?$/is.exec(path) ?? [];
  return inside !== undefined && (pattern || /\.git\/?$/i.test(path)) ? `${inside}/config` : undefined;
}

/** `.g*` and `.[a-z]*` stand for the folder of git too. */
function withGit(path: string): string {
  const mayBeGit = (part: string) => /^\..*[*?[]/s.test(part) && globMatcher(part)('.git');
  return path
    .split('/')
    .map((part) => (mayBeGit(part) ? '.git' : part))
    .join('/');
}

function withFoldersAbove(folder: string): string[] {
  const names = folder.split('/');
  return names.map((_, index) => names.slice(0, names.length - index).join('/') || '/').concat('.');
}
