import { ok, type Result } from '../kernel/result.ts';
import type { GlobAnswer, GlobQuery } from '../kernel/workspace.ts';
import { globPattern, roughFilter } from './glob-pattern.ts';
import { newestFirst, newestOf } from './newest-first.ts';
import type { Place } from './place.ts';
import type { RipgrepRun } from './ripgrep.ts';
import { countIgnored, type Searcher, startOf, whichFiles, withoutDot, withSafeIgnores } from './search-scope.ts';

/**
 * ripgrep lists all files, and the pattern is applied to the list: its log then names only what ignore files left out,
 * which is how that is counted, and naming every file that does not match would take far longer than the search.
 */
export async function globFiles(searcher: Searcher, asked: GlobQuery): Promise<Result<GlobAnswer>> {
  const { place, rg } = searcher;
  const matches = globPattern(asked.pattern);
  if (!matches.ok) return matches;
  const start = startOf(place, asked.path);
  if (!start.ok) return start;
  const { folder, argument } = start.value;
  const query = await withSafeIgnores(searcher, asked, argument);
  const below = folder === '' ? 0 : folder.length + 1;
  const isOpen = openFolders(place);
  const isWanted = (path: string) => path !== '' && matches.value(path.slice(below)) && isOpen(path);
  const list = ['--files', '--null', '--debug', ...whichFiles(query), '--', argument];

  const dated = await rg.listDated?.(list, roughFilter(query.pattern, folder));
  if (dated?.ok === false) return dated;
  if (dated !== undefined && !isUnknownHere(dated.value)) {
    const { newest, total } = newestOf(parseDated(dated.value.stdout, isWanted), query.limit);
    return answer(dated.value, newest, total);
  }
  const ran = await rg.run(list);
  if (!ran.ok) return ran;
  const listed = ran.value.stdout.toString('utf8').split('\0').map(withoutDot);
  const found = listed.filter(isWanted).map((path) => ({ path }));
  const sorted = await newestFirst(place.names.real, found);
  const shown = sorted.slice(0, query.limit).map(({ path }) => path);
  const paths = rg.contained ? shown : shown.filter(isInside);
  return answer(ran.value, paths, sorted.length - (shown.length - paths.length));

  function answer({ stderr, complete }: RipgrepRun, paths: readonly string[], total: number): Result<GlobAnswer> {
    return ok({ paths, total, ignored: query.includeIgnored ? 0 : countIgnored(stderr), complete });
  }

  /** The name of a sensitive file may be known. */
  function isInside(path: string): boolean {
    const located = place.locate(path, { last: 'keep' });
    if (!located.ok) return located.error.code === 'PERMISSION_DENIED';
    located.value.folder.close();
    return located.value.path === path;
  }
}

/** The name of a sensitive file may be known, but a sensitive folder is not looked into. Judged once for all in a folder. */
function openFolders({ policy }: Place): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const isOpen = known.get(folder) ?? policy.judge(folder).access !== 'hidden';
    known.set(folder, isOpen);
    return isOpen;
  };
}

/** A system whose `stat` or `xargs` does not understand us. */
function isUnknownHere({ stdout, stderr }: RipgrepRun): boolean {
  return stdout.length === 0 && /(?:stat|xargs): .*(?:not found|unrecognized|invalid option)/.test(stderr);
}

function parseDated(
  stdout: Buffer,
  isWanted: (path: string) => boolean,
): { readonly path: string; readonly modified: number }[] {
  const found: { path: string; modified: number }[] = [];
  for (const line of stdout.toString('utf8').split('\0')) {
    const tab = line.indexOf('\t');
    const path = withoutDot(line.slice(tab + 1));
    if (tab > 0 && isWanted(path)) found.push({ path, modified: microseconds(line.slice(0, tab)) });
  }
  return found;
}

/** In two halves: a number of so many digits takes the engine ten times as long to read. */
function microseconds(seconds: string): number {
  const point = seconds.length - 7;
  return Number(seconds.slice(0, point)) * 1e6 + Number(seconds.slice(point + 1));
}
