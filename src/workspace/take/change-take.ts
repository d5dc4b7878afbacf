import { catchErrnoAsync } from '../../host/errno.ts';
import { isTimesVersion, timesVersion } from '../../host/file-version.ts';
import { parsePath, shortPath } from '../../host/parse-path.ts';
import { typeOf } from '../../host/visit-tree.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { foldersAbove } from '../../kernel/text/folders-above.ts';
import type { EntryKind } from '../../kernel/world/file-policy.ts';
import { conflictAt, readVersion } from '../change/expectation.ts';
import type { PreparedChange, SetScope, Writer } from '../change/prepared-change.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { ReplacedFile, TakeChange, TakenPlace } from './checked-take.ts';
import { readStaged } from './staged-source.ts';
import { prepareTakeNew } from './take-new.ts';
import { prepareTakeOver } from './take-over.ts';

/** Prepares a file, symlink or folder to come in from a stage: compares source and target with what was shown, and changes nothing. */
export function prepareTake(writer: Writer, scope: SetScope, change: TakeChange): Promise<Result<PreparedChange>> {
  return catchErrnoAsync(change.path, async () => {
    const located = placeOf(writer, scope, change);
    if (!located.ok) return located;
    const place = located.value;
    const staged = await readStaged(writer.root, scope.folders, change);
    if (!staged.ok) return staged;
    scope.sync.expect(staged.value.entries);
    if (change.expect === 'absent') {
      if (place.old !== null) return conflictAt(place.path, 'is there by now');
      return ok(prepareTakeNew(writer, scope, { change, place, staged: staged.value }));
    }
    const old = await expected(scope, place, change.expect.version);
    if (!old.ok) return old;
    if (staged.value.type === 'directory') return replacesFolder(place.path);
    return ok(prepareTakeOver(writer, scope, { change, staged: staged.value, ...old.value }));
  });
}

function placeOf({ root }: Writer, scope: SetScope, change: TakeChange): Result<TakenPlace> {
  const names = parsePath(change.path, root.names);
  if (!names.ok) return names;
  const path = names.value.join('/');
  const above = foldersAbove(path);
  const comes = scope.folders.staged(change.from).stat;
  const kind = comes === null ? undefined : typeOf(comes);
  if (!above.some((folder) => isToCome(scope, folder))) {
    const found = scope.folders.find(path, kind);
    if (found.ok) {
      const isFree = found.value.stat === null || scope.deleted.has(path);
      return ok({ path, old: isFree ? null : found.value, above: above.at(-1) ?? '', made: [] });
    }
    if (found.error.code !== 'FILE_NOT_FOUND') return found;
  }
  return newPlace(root, scope, { path, kind, above });
}

/** A place below a folder that is missing, or that takes the place of something which the set deletes. */
function newPlace(
  root: WorkspaceRoot,
  scope: SetScope,
  { path, kind, above }: Pick<TakenPlace, 'path'> & { readonly kind: EntryKind | undefined; readonly above: string[] },
): Result<TakenPlace> {
  const missing: string[] = [];
  for (const folder of above) {
    const there = missing.length > 0 || isToCome(scope, folder) ? null : scope.folders.find(folder, 'directory');
    if (there?.ok === false) return there;
    if (there === null || there.value.stat === null) missing.push(folder);
    else if (!there.value.stat.isDirectory()) return conflictAt(folder, 'is no folder any more');
  }
  for (const folder of missing) {
    const refused = root.refuses(folder, 'directory');
    if (!refused.ok) return refused;
  }
  const refused = root.refuses(path, kind);
  if (!refused.ok) return refused;
  const made = missing.filter((folder) => !scope.made.has(folder));
  for (const folder of made) scope.made.add(folder);
  return ok({ path, old: null, above: above[above.length - missing.length - 1] ?? '', made });
}

/** A folder that the set makes is not looked for again with each file in it. */
function isToCome({ deleted, made }: SetScope, folder: string): boolean {
  return deleted.has(folder) || made.has(folder);
}

/** The file or symlink that is to be replaced, if it is the expected one. */
async function expected(
  scope: SetScope,
  { path, old }: TakenPlace,
  version: string,
): Promise<Result<{ old: ReplacedFile }>> {
  if (old === null || old.stat === null) return conflictAt(path, 'is gone');
  const { stat } = old;
  if (typeOf(stat) !== 'file' && typeOf(stat) !== 'symlink') return conflictAt(path, 'became something else');
  if (stat.isFile()) scope.touched.push({ path, stat });
  const now = await readVersion(old.folder, old.name, stat);
  const isExpected = isTimesVersion(version) ? timesVersion(stat) === version : now.versions.includes(version);
  if (!isExpected) return conflictAt(path, 'was changed');
  return ok({ old: { spot: old, stat, digest: now.digest, bytes: now.bytes } });
}

function replacesFolder(path: string): Result<never> {
  const message = `${shortPath(path)} becomes a folder: delete what is there in the same set, and take the folder as a new one.`;
  return fail('INVALID_INPUT', message, { path });
}
