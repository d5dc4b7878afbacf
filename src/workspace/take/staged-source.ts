import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { isTimesVersion, timesVersion } from '../../host/file-version.ts';
import { shortPath } from '../../host/parse-path.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { alteredAt, conflictAt, readVersion } from '../change/expectation.ts';
import type { OpenFolders } from '../change/open-folders.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** A file, symlink or folder of a stage, compared with the version that was shown. */
export interface StagedSource {
  readonly type: 'file' | 'directory' | 'symlink';
  readonly stat: Stats;
  /** To compare it by after it came; null for a symlink. */
  readonly digest: string | null;
  /** Files and folders, itself included. */
  readonly entries: number;
  /** Paths of the host with set-id bits. */
  readonly privileged: readonly string[];
}

/** Reads the source of a take and compares it with the version that was shown. Refuses devices and names that are no text, and sensitive files in a folder. */
export async function readStaged(
  root: WorkspaceRoot,
  folders: OpenFolders,
  { from, content, path }: Pick<Extract<Change, { kind: 'take' }>, 'from' | 'content' | 'path'>,
): Promise<Result<StagedSource>> {
  const { folder, name, stat } = folders.staged(from);
  if (stat === null) return conflictAt(path, 'is no longer among the pending changes');
  const type = typeOf(stat);
  if (type === 'other') return special(path);
  const { versions, comparable } = await readVersion(folder, name, stat);
  // The folder may have been closed meanwhile: each path of the host is looked up again.
  const shown = content.version;
  const isShown = shown === null || versions.includes(shown) || (isTimesVersion(shown) && shown === timesVersion(stat));
  if (!isShown) return alteredAt(path);
  const below = type === 'directory' ? await lookBelow(root, folders.staged(from).folder.at(name), path) : ok(NOTHING);
  if (!below.ok) return below;
  const own = hasSetId(stat) ? [folders.staged(from).folder.at(name)] : [];
  const privileged = [...own, ...below.value.privileged];
  return ok({ type, stat, digest: comparable, entries: below.value.entries + 1, privileged });
}

/** Takes the set-id bits away. A folder keeps the group bit where the folder that it comes to has it too. */
export function dropSetId(paths: readonly string[], parentMode: number): void {
  for (const path of paths) {
    const stat = lstatSync(path);
    const kept = stat.isDirectory() ? parentMode & 0o2000 : 0;
    chmodSync(path, stat.mode & (0o1777 | kept));
  }
}

interface BelowStaged {
  readonly entries: number;
  readonly privileged: readonly string[];
}

const NOTHING: BelowStaged = { entries: 0, privileged: [] };

async function lookBelow(root: WorkspaceRoot, top: string, target: string): Promise<Result<BelowStaged>> {
  const privileged: string[] = [];
  let entries = 0;
  const yielder = createYielder();
  const waiting = [{ at: top, path: target }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of readdirSync(next.at)) {
      const [at, path] = [`${next.at}/${name}`, `${next.path}/${name}`];
      entries++;
      const stat = lstatSync(at, { throwIfNoEntry: false });
      if (stat === undefined) return unnameable(path);
      const refused = root.refuses(path, typeOf(stat));
      if (!refused.ok) return refused;
      if (typeOf(stat) === 'other') return special(path);
      if (hasSetId(stat)) privileged.push(at);
      if (stat.isDirectory()) waiting.push({ at, path });
    }
    if (yielder.isDue()) await yielder.pause();
  }
  return ok({ entries, privileged });
}

/** Of a symlink the bits mean nothing. */
function hasSetId(stat: Stats): boolean {
  return !stat.isSymbolicLink() && (stat.mode & 0o6000) !== 0;
}

function special(path: string): Result<never> {
  return fail('INVALID_PATH', `${shortPath(path)} is a pipe, a socket or a device: leave it out.`, { path });
}

function unnameable(path: string): Result<never> {
  return fail('INVALID_PATH', `${shortPath(path)} has a name that is no text: leave it out.`, { path });
}
