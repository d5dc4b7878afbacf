import { isGitConfig } from '../../kernel/git-credentials.ts';
import { contentAt, statAt } from '../content-at.ts';
import { holdsGitCredential } from '../git-credential.ts';
import { holdsPrivateKey, MARK } from '../private-key.ts';
import { type Searcher, withoutDot } from './search-scope.ts';
import type { Shared } from '../secret-inodes.ts';

/** So many files are looked into one by one. Of more, ripgrep tells which hold the mark of a key: it is far quicker. */
const ONE_BY_ONE = 500;
/** Let other work run after so long. */
const SLICE_MS = 8;
/** In a sandbox ripgrep sees no other name of a sensitive file. */
const ONE_NAME: Shared = { dev: 0, ino: 0, nlink: 1, ctimeMs: 0 };

export interface Tellable<T> {
  readonly files: readonly T[];
  /** False when there was no time to judge them all; the others are left out. */
  readonly complete: boolean;
}

/**
 * The files of which a search may tell. Of one that holds a key, whatever its name, of git's with a credential, and of
 * other names of sensitive files not even that they match: every number would answer a guess. `scope` tells ripgrep
 * which files were searched.
 */
export async function tellable<T extends { readonly path: string }>(
  searcher: Searcher,
  found: readonly T[],
  scope: readonly string[],
): Promise<Tellable<T>> {
  const marked = found.length > ONE_BY_ONE ? await markedFiles(searcher, scope) : new Set<string>();
  const judged = marked === null ? found.slice(0, ONE_BY_ONE) : found;
  const open: { each: T; stat: Shared }[] = [];
  let sliceStart = performance.now();
  for (const [index, each] of judged.entries()) {
    const closely = index < ONE_BY_ONE || marked?.has(each.path) === true || isGitConfig(each.path);
    const stat = closely ? statOfHarmless(searcher, each.path) : statOf(searcher, each.path);
    if (stat !== null) open.push({ each, stat });
    if (performance.now() - sliceStart > SLICE_MS) {
      await new Promise((resolve) => setImmediate(resolve));
      sliceStart = performance.now();
    }
  }
  const secret = searcher.rg.contained ? new Set() : await searcher.secrets.among(open);
  return { files: open.filter((each) => !secret.has(each)).map(({ each }) => each), complete: marked !== null };
}

/** Null when that cannot be told. Bytes count, as where we look ourselves: whatever the encoding, behind a NUL as well. */
async function markedFiles({ rg }: Searcher, scope: readonly string[]): Promise<ReadonlySet<string> | null> {
  const bytes = ['--text', '--encoding=none', '--case-sensitive', '--fixed-strings', `--regexp=${MARK}`];
  const ran = await rg.run(['--files-with-matches', '--null', '--color=never', ...bytes, ...scope]);
  if (!ran.ok || !ran.value.complete) return null;
  return new Set(ran.value.stdout.toString('utf8').split('\0').map(withoutDot));
}

function statOfHarmless({ place }: Searcher, path: string): Shared | null {
  const content = contentAt(place, path);
  if (content === null || holdsPrivateKey(content.bytes) || holdsGitCredential(path, content.bytes)) return null;
  return content.stat;
}

function statOf({ place, rg }: Searcher, path: string): Shared | null {
  return rg.contained ? ONE_NAME : statAt(place, path);
}
