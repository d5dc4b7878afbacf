import { shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { parentOf } from '../../kernel/text/folders-above.ts';
import type { SecretHardLinks } from '../../secrets/secret-hard-links.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { Ripgrep } from './ripgrep.ts';

/** Everything that both searches need. */
export interface Searcher {
  readonly root: WorkspaceRoot;
  readonly rg: Ripgrep;
  readonly secrets: SecretHardLinks;
  readonly signal: AbortSignal;
}

/** Options that say which files are looked at, the same for both. */
export function fileOptions(query: { includeHidden: boolean; includeIgnored: boolean }): string[] {
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
  const { rg, root } = searcher;
  if (rg.contained || query.includeIgnored) return query;
  const listed = await rg.run(['--files', '--debug', ...fileOptions(query), '--', argument]);
  if (!listed.ok || !listed.value.complete) return { ...query, includeIgnored: true };
  const opened = [...listed.value.stderr.matchAll(/: opened gitignore file: (.+)$/gm)].map(([, path = '']) => path);
  // Ignore files above the workspace cannot be written from inside it.
  const inside = opened.filter((path) => !path.startsWith('/') || path.startsWith(`${root.names.real}/`));
  for (const path of inside) {
    if (!(await isOrdinary(searcher, withoutDot(path)))) return { ...query, includeIgnored: true };
  }
  return query;
}

async function isOrdinary({ root, secrets }: Searcher, path: string): Promise<boolean> {
  const located = root.locate(path, { last: 'follow' });
  if (!located.ok) return false;
  const { folder, stat } = located.value;
  folder.close();
  return stat !== null && (await secrets.refuseReading(path, stat)) === undefined;
}

/** Where to search, as ripgrep is told: never an option, never empty. */
export function startOf(root: WorkspaceRoot, path: string): Result<{ folder: string; argument: string }> {
  const located = root.locate(path, { last: 'follow' });
  if (!located.ok) return located;
  const { folder, stat, path: real } = located.value;
  folder.close();
  if (stat === null) return fail('FILE_NOT_FOUND', `${shortPath(path)} was not found: give an existing folder.`);
  if (!stat.isDirectory() && !stat.isFile())
    return fail('INVALID_PATH', `${shortPath(path)} is no file and no folder.`);
  return ok({
    folder: stat.isDirectory() ? real : parentOf(real),
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
