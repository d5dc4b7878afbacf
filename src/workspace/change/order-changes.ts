import { parsePath, type RootNames, shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { parentOf } from '../../kernel/text/folders-above.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { PHASES, type PreparedChange } from './prepared-change.ts';

/** Whether a set is put into an order of its own: file tools say themselves what comes first. */
export function isStaged(changes: readonly Change[]): boolean {
  return changes.some(({ kind }) => kind === 'take' || kind === 'mode');
}

/** The paths that a set deletes, and those of them at which or below which something new comes. */
export interface DeletedPaths {
  readonly deleted: ReadonlySet<string>;
  readonly swapped: ReadonlySet<string>;
}

/** INVALID_INPUT for a change inside of a folder that the set deletes or takes as a whole. */
export function findDeleted(changes: readonly Change[], root: RootNames): Result<DeletedPaths> {
  const deleted = new Set<string>();
  const taken = new Set<string>();
  if (!isStaged(changes)) return ok({ deleted, swapped: new Set() });
  for (const change of changes) {
    if (change.kind === 'delete') deleted.add(plain(change.path, root));
    if (change.kind === 'take') taken.add(plain(change.path, root));
  }
  const swapped = new Set<string>();
  for (const change of changes) {
    const path = plain('path' in change ? change.path : change.to, root);
    const isNew = change.kind === 'take' || change.kind === 'write';
    if (isNew && deleted.has(path)) swapped.add(path);
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
      if (taken.has(above) || (deleted.has(above) && !isNew)) return inside(path, above);
      if (deleted.has(above)) swapped.add(above);
    }
  }
  return ok({ deleted, swapped });
}

/** The order of PHASES; in a repository, objects before the names that lead to them. */
export function inSafeOrder(prepared: readonly PreparedChange[]): PreparedChange[] {
  return prepared
    .map((change, index) => ({ change, rank: rankOf(change), index }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ change }) => change);
}

function rankOf({ phase, places: [place] }: PreparedChange): number {
  return PHASES.indexOf(phase) * 4 + gitRank(place?.path ?? '');
}

function gitRank(path: string): number {
  const own = /(?:^|\/)\.git\/(.*)$/.exec(path)?.[1];
  if (own === undefined) return 0;
  if (/(?:^|\/)objects(?:\/|$)/.test(own)) return 1;
  return /(?:^|\/)(?:refs|packed-refs)(?:\/|$)/.test(own) ? 2 : 3;
}

function plain(path: string, root: RootNames): string {
  const names = parsePath(path, root);
  return names.ok ? names.value.join('/') : path;
}

function inside(path: string, above: string): Result<never> {
  const message = `${shortPath(path)} is inside ${shortPath(above)}, which comes or goes as a whole: leave one of them out.`;
  return fail('INVALID_INPUT', message, { path });
}
