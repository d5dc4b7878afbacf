import { ok, type Result } from '../kernel/result.ts';
import type { GlobAnswer, GlobQuery } from '../kernel/workspace.ts';
import { globPattern } from './glob-pattern.ts';
import { newestFirst } from './newest-first.ts';
import { countIgnored, type Searcher, startOf, whichFiles, withoutDot } from './search-scope.ts';

/**
 * ripgrep lists the files, and the pattern is applied here: its log then names only what ignore files left out, which
 * is how that is counted, and naming every file that does not match would take far longer than the search.
 */
export async function globFiles({ place, rg }: Searcher, query: GlobQuery): Promise<Result<GlobAnswer>> {
  const matches = globPattern(query.pattern);
  if (!matches.ok) return matches;
  const start = startOf(place, query.path);
  if (!start.ok) return start;
  const ran = await rg.run(['--files', '--null', '--debug', ...whichFiles(query), '--', start.value.argument]);
  if (!ran.ok) return ran;

  const { stdout, stderr, complete } = ran.value;
  const below = start.value.folder === '' ? 0 : start.value.folder.length + 1;
  const found: { path: string }[] = [];
  for (const listed of stdout.toString('utf8').split('\0')) {
    const path = withoutDot(listed);
    if (path !== '' && matches.value(path.slice(below))) found.push({ path });
  }
  const sorted = await newestFirst(place.names.real, found);
  const shown = sorted.slice(0, query.limit).map(({ path }) => path);
  const paths = rg.contained ? shown : shown.filter(isInside);
  const total = sorted.length - (shown.length - paths.length);
  return ok({ paths, total, ignored: query.includeIgnored ? 0 : countIgnored(stderr), complete });

  /** The name of a sensitive file may be known. */
  function isInside(path: string): boolean {
    const located = place.locate(path, { last: 'keep' });
    if (!located.ok) return located.error.code === 'PERMISSION_DENIED';
    located.value.folder.close();
    return located.value.path === path;
  }
}
