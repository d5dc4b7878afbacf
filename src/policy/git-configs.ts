import { posix } from 'node:path';
import { isGitConfig } from '../kernel/git-credentials.ts';
import type { ShellWord } from './commands/shell-words.ts';
import { walkCommands } from './walk-commands.ts';

/** Subcommands that print settings of the repository, such as the addresses of remotes. */
const PRINTING = new Set(['remote', 'config', 'ls-remote']);
/** Programs that tell nothing of what is in a file. */
const ABOUT_NAMES = new Set(['cd', 'du', 'ls', 'mkdir', 'stat', 'test', '[', 'tree']);

/** Configurations of git that a command may print, if they are there: files that it names, and those that git reads. */
export function gitConfigs(command: string, cwd = '.'): readonly string[] {
  if (!/git/i.test(command)) return [];
  const found = new Set<string>();
  walkCommands(command, cwd, ({ name, args, folders, redirections }) => {
    const prints = name === 'git' && args.some(({ value }) => value === null || PRINTING.has(value));
    const words = ABOUT_NAMES.has(name) ? [] : [...args, ...redirections.map(({ target }) => target)];
    for (const folder of folders) {
      if (prints) for (const above of withFoldersAbove(folder)) found.add(posix.join(above, '.git/config'));
      for (const word of words) {
        const path = configNamed(word, folder);
        if (path !== undefined) found.add(path);
      }
    }
  });
  return [...found];
}

/** The file itself, or the one in a folder of git that is named as a whole or by a pattern. */
function configNamed({ value, pattern }: ShellWord, folder: string): string | undefined {
  const path = value === null ? '' : posix.join(folder, value);
  if (isGitConfig(path)) return path;
  const [, inside] = /^(.*\.git)(?:\/.*)?$/i.exec(path) ?? [];
  return inside !== undefined && (pattern || /\.git\/?$/i.test(path)) ? `${inside}/config` : undefined;
}

function withFoldersAbove(folder: string): string[] {
  const names = folder.split('/');
  return names.map((_, index) => names.slice(0, names.length - index).join('/') || '/').concat('.');
}
