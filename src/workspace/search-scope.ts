import { fail, ok, type Result } from '../kernel/result.ts';
import { shown } from './parse-path.ts';
import type { Place } from './place.ts';
import type { Ripgrep } from './ripgrep.ts';
import type { SecretInodes } from './secret-inodes.ts';

/** What both searches need. */
export interface Searcher {
  readonly place: Place;
  readonly rg: Ripgrep;
  readonly secrets: SecretInodes;
}

/** Options that say which files are looked at, the same for both. */
export function whichFiles(query: { includeHidden: boolean; includeIgnored: boolean }): string[] {
  return [
    '--no-messages',
    '--no-require-git',
    '--no-ignore-global',
    ...(query.includeHidden ? ['--hidden', '--glob=!.git'] : []),
    ...(query.includeIgnored ? ['--no-ignore'] : []),
  ];
}

/** Where to search, as ripgrep is told: never an option, never empty. */
export function startOf(place: Place, path: string): Result<{ folder: string; argument: string }> {
  const located = place.locate(path, { last: 'follow' });
  if (!located.ok) return located;
  const { folder, stat, path: real } = located.value;
  folder.close();
  if (stat === null) return fail('FILE_NOT_FOUND', `${shown(path)} was not found: give an existing folder.`);
  if (!stat.isDirectory() && !stat.isFile()) return fail('INVALID_PATH', `${shown(path)} is no file and no folder.`);
  return ok({
    folder: stat.isDirectory() ? real : real.slice(0, Math.max(0, real.lastIndexOf('/'))),
    argument: `./${real}`,
  });
}

export function withoutDot(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Entries that ignore files left out, told by ripgrep's own log. */
export function countIgnored(stderr: string): number {
  return stderr.match(/ignoring [^\n]*: Ignore\(IgnoreMatch\(Gitignore/g)?.length ?? 0;
}
