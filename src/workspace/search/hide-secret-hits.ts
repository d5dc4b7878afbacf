import { isGitConfig } from '../../git/credentials.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { secretMarks } from '../../secrets/find-secrets.ts';
import { judgeSecretFile } from '../../secrets/judge-secret-file.ts';
import type { SharedFile } from '../../secrets/secret-hard-links.ts';
import { tellsOfSecrets } from '../../secrets/telling-files.ts';
import { contentAt, statAt } from '../read/content-at.ts';
import { type Searcher, withoutDot } from './search-scope.ts';

/** So many files are looked into one by one. Of more, ripgrep tells which may hold a secret: it is far quicker. */
const ONE_BY_ONE = 500;

export interface VisibleHits<T> {
  readonly files: readonly T[];
  /** False when there was no time to judge them all; the others are left out. */
  readonly complete: boolean;
}

/**
 * Leaves out files that hold a secret or a credential of git, other names of sensitive files, and hard links to files outside. Not even their
 * number is told, since each count would answer a guess. `scope` tells ripgrep which files were searched.
 */
export async function hideSecretHits<T extends { readonly path: string }>(
  searcher: Searcher,
  found: readonly T[],
  scope: readonly string[],
): Promise<VisibleHits<T>> {
  const marked = found.length > ONE_BY_ONE ? await markedFiles(searcher, scope) : new Set<string>();
  const judged = marked === null ? found.slice(0, ONE_BY_ONE) : found;
  const open: (SharedFile & { each: T })[] = [];
  const yielder = createYielder();
  for (const [index, each] of judged.entries()) {
    const isMarked = marked?.has(each.path) === true || isGitConfig(each.path) || tellsOfSecrets(each.path);
    const closely = index < ONE_BY_ONE || isMarked;
    const stat = closely ? statOfHarmless(searcher, each.path) : statAt(searcher.root, each.path);
    if (stat !== null) open.push({ each, path: each.path, stat });
    if (yielder.isDue()) await yielder.pause();
  }
  const unreadable = await searcher.secrets.amongUnreadable(open);
  return { files: open.filter((each) => !unreadable.has(each)).map(({ each }) => each), complete: marked !== null };
}

/** Null when that cannot be told. Bytes count, as where we look ourselves: whatever the encoding, behind a NUL as well. */
async function markedFiles({ rg }: Searcher, scope: readonly string[]): Promise<ReadonlySet<string> | null> {
  const bytes = ['--text', '--encoding=none', '--no-unicode', '--case-sensitive', `--regexp=${secretMarks()}`];
  const ran = await rg.run(['--files-with-matches', '--null', '--color=never', ...bytes, ...scope]);
  if (!ran.ok || !ran.value.complete) return null;
  return new Set(ran.value.stdout.toString('utf8').split('\0').map(withoutDot));
}

function statOfHarmless({ root }: Searcher, path: string): SharedFile['stat'] | null {
  const content = contentAt(root, path);
  return content === null || judgeSecretFile(root.policy, path, content.bytes) !== null ? null : content.stat;
}
