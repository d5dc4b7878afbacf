import { lstatSync } from 'node:fs';
import { createYielder } from '../../kernel/yielding.ts';

/**
 * Sorts by time of change, newest first, ties by path; what is gone by now is left out. Only the order depends on what
 * is looked at here, so plain paths will do.
 */
export async function newestFirst<T extends { readonly path: string }>(
  root: string,
  found: readonly T[],
): Promise<T[]> {
  const dated: { each: T; modified: number }[] = [];
  const yielder = createYielder();
  for (const each of found) {
    const stat = lstatSync(`${root}/${each.path}`, { throwIfNoEntry: false });
    if (stat !== undefined) dated.push({ each, modified: stat.mtimeMs });
    if (yielder.isDue()) await yielder.pause();
  }
  dated.sort((a, b) => b.modified - a.modified || (a.each.path < b.each.path ? -1 : 1));
  return dated.map(({ each }) => each);
}

export interface DatedFiles {
  /** When each was changed, in microseconds. */
  readonly times: readonly number[];
  pathOf(index: number): string;
}

/** The newest of files whose times are known. Few of many are wanted, so only those are put in order. */
export function newestOf({ times, pathOf }: DatedFiles, limit: number): string[] {
  const oldest = new Float64Array(times).sort()[Math.max(0, times.length - limit)] ?? 0;
  const newest: { path: string; modified: number }[] = [];
  for (const [index, modified] of times.entries()) {
    if (modified >= oldest) newest.push({ path: pathOf(index), modified });
  }
  newest.sort((a, b) => b.modified - a.modified || (a.path < b.path ? -1 : 1));
  return newest.slice(0, limit).map(({ path }) => path);
}
