import { ok, type Result } from '../../kernel/result.ts';
import type { GlobAnswer, GlobQuery } from '../../kernel/world/workspace.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { globPattern, roughFilter } from './glob-pattern.ts';
import { type DatedFiles, newestFirst, newestOf } from './newest-first.ts';
import type { RipgrepRun } from './ripgrep.ts';
import { countIgnored, fileOptions, type Searcher, startOf, withoutDot, withSafeIgnores } from './search-scope.ts';

/**
 * ripgrep lists all files, and the pattern is applied to the list: its log then names only what ignore files left out,
 * which is how that is counted, and naming every file that does not match would take far longer than the search.
 */
export async function globFiles(searcher: Searcher, asked: GlobQuery): Promise<Result<GlobAnswer>> {
  const { root, rg } = searcher;
  const matches = globPattern(asked.pattern);
  if (!matches.ok) return matches;
  const start = startOf(root, asked.path);
  if (!start.ok) return start;
  const { folder, argument } = start.value;
  const query = await withSafeIgnores(searcher, asked, argument);
  const below = folder === '' ? 0 : folder.length + 1;
  const isOpen = openFolders(root);
  const isWanted = (path: string) => path !== '' && matches.value(path.slice(below)) && isOpen(path);
  const list = ['--files', '--null', '--debug', ...fileOptions(query), '--', argument];

  const dated = await rg.listDated?.(list, roughFilter(query.pattern, folder));
  if (dated?.ok === false) return dated;
  if (dated !== undefined && !isUnknownHere(dated.value)) {
    const files = parseDated(dated.value.stdout, isWanted);
    return answer(dated.value, newestOf(files, query.limit), files.times.length);
  }
  const ran = await rg.run(list);
  if (!ran.ok) return ran;
  const listed = ran.value.stdout.toString('utf8').split('\0').map(withoutDot);
  const found = listed.filter(isWanted).map((path) => ({ path }));
  const sorted = await newestFirst(root.folder.self, found);
  const shown = sorted.slice(0, query.limit).map(({ path }) => path);
  const paths = rg.contained ? shown : shown.filter(isInside);
  return answer(ran.value, paths, sorted.length - (shown.length - paths.length));

  function answer({ stderr, complete }: RipgrepRun, paths: readonly string[], total: number): Result<GlobAnswer> {
    return ok({ paths, total, ignored: query.includeIgnored ? 0 : countIgnored(stderr), complete });
  }

  /** The name of a sensitive file may be known. */
  function isInside(path: string): boolean {
    const located = root.locate(path, { last: 'keep' });
    if (!located.ok) return located.error.code === 'PERMISSION_DENIED';
    located.value.folder.close();
    return located.value.path === path;
  }
}

/**
 * The name of a sensitive file may be known, but a sensitive folder is not looked into. Judged once for all in a folder,
 * which mostly come one after another.
 */
function openFolders({ policy }: WorkspaceRoot): (path: string) => boolean {
  const known = new Map<string, boolean>();
  let [folder, isOpen] = ['', true];
  return (path) => {
    const end = path.lastIndexOf('/') + 1;
    if (end === folder.length && path.startsWith(folder)) return isOpen;
    folder = path.slice(0, end);
    isOpen = known.get(folder) ?? policy.judge(folder, 'directory').access !== 'hidden';
    known.set(folder, isOpen);
    return isOpen;
  };
}

/** A system whose `stat` or `xargs` does not understand us. */
function isUnknownHere({ stdout, stderr }: RipgrepRun): boolean {
  return stdout.length === 0 && /(?:stat|xargs): .*(?:not found|unrecognized|invalid option)/.test(stderr);
}

/** Keeps numbers only: tens of thousands of paths, of which a few are shown, would keep the collector busy. */
function parseDated(stdout: Buffer, isWanted: (path: string) => boolean): DatedFiles {
  const text = stdout.toString('utf8');
  const times: number[] = [];
  const paths: [starts: number[], ends: number[]] = [[], []];
  for (let at = 0, end = text.indexOf('\0'); end >= 0; at = end + 1, end = text.indexOf('\0', at)) {
    const tab = text.indexOf('\t', at);
    const start = text.startsWith('./', tab + 1) ? tab + 3 : tab + 1;
    if (!isWanted(text.slice(start, end))) continue;
    times.push(microseconds(text, at));
    paths[0].push(start);
    paths[1].push(end);
  }
  return { times, pathOf: (index) => text.slice(paths[0][index], paths[1][index]) };
}

/** The number that begins there: a sign perhaps, seconds, a point, and six digits or more. */
function microseconds(text: string, start: number): number {
  const end = text.indexOf('.', start) + 7;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit >= 0) value = value * 10 + digit;
  }
  return text.charCodeAt(start) === MINUS ? -value : value;
}

const [ZERO, MINUS] = [48, 45];
