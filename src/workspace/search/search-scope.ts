import { fail, ok, type Result } from '../../kernel/result.ts';
import { shown } from '../../host/parse-path.ts';
import type { Place } from '../workspace-root.ts';
import type { Ripgrep } from './ripgrep.ts';
import type { SecretInodes } from '../secret-inodes.ts';

/** What both searches need. */
export interface Searcher {
  readonly place: Place;
  readonly rg: Ripgrep;
  readonly secrets: SecretInodes;
  readonly signal: AbortSignal;
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

/**
 * On the host nothing hides a file from ripgrep itself, and what it leaves out would tell what stands in a sensitive file
 * that an ignore file leads to. Where one does, or leads outside, nothing is ignored.
 */
export async function withSafeIgnores<Q extends { includeHidden: boolean; includeIgnored: boolean }>(
  searcher: Searcher,
  query: Q,
  argument: string,
): Promise<Q> {
  const { rg, place } = searcher;
  if (rg.contained || query.includeIgnored) return query;
  const listed = await rg.run(['--files', '--debug', ...whichFiles(query), '--', argument]);
  if (!listed.ok || !listed.value.complete) return { ...query, includeIgnored: true };
  const opened = [...listed.value.stderr.matchAll(/: opened gitignore file: (.+)$/gm)].map(([, path = '']) => path);
  // Those above the workspace are nobody's who works in it.
  const inside = opened.filter((path) => !path.startsWith('/') || path.startsWith(`${place.names.real}/`));
  for (const path of inside) {
    if (!(await isOrdinary(searcher, withoutDot(path)))) return { ...query, includeIgnored: true };
  }
  return query;
}

async function isOrdinary({ place, secrets }: Searcher, path: string): Promise<boolean> {
  const located = place.locate(path, { last: 'follow' });
  if (!located.ok) return false;
  const { folder, stat } = located.value;
  folder.close();
  return stat !== null && (await secrets.refuses(path, stat)) === undefined;
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
