import { closeSync } from 'node:fs';
import { errnoFailure, errnoOf } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { MAX_WHOLE_BYTES, notFound, openFile, readWhole } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import type { Snapshot } from '../journal/change-set.ts';
import type { Journal } from '../journal/journal.ts';
import { treeName } from '../journal/snapshots.ts';
import { secretWithheld } from '../read/secret-withheld.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { copyTree } from './copy-tree.ts';
import { conflictAt, isAtVersion, isSame } from './expectation.ts';
import { removeTree, renameFolder } from './move-name.ts';
import { leadsAsPlanned } from './planned-place.ts';
import { type PreparedChange, type SetScope, tempName, type Writer } from './prepared-change.ts';
import { rehearsedVersion } from './rehearsed-version.ts';
import type { SetSync } from './sync-set.ts';
import { treeBelow } from './tree-below.ts';

type Delete = Extract<Change, { kind: 'delete' }>;

/** Prepares a delete: the file or folder is moved into the journal whole, so that it can come back. The target of a symlink stays. */
export async function prepareDelete(writer: Writer, scope: SetScope, change: Delete): Promise<Result<PreparedChange>> {
  const { root, journal } = writer;
  const located =
    change.expect === undefined ? root.locate(change.path, { last: 'keep' }) : exactly(scope, change.path);
  if (!located.ok) return located;
  const spot = located.value;
  const close = (): void => {
    if (change.expect === undefined) spot.folder.close();
  };
  const failed = (result: Result<never>): Result<never> => {
    close();
    return result;
  };

  try {
    if (spot.name === '') return failed(fail('PERMISSION_DENIED', 'The workspace itself cannot be deleted.'));
    if (spot.stat === null) return failed(notFound(spot.path));
    if (spot.stat.isFile()) scope.touched.push({ path: spot.path, stat: spot.stat });
    if (change.expect !== undefined) {
      const isExpected = await isAtVersion(spot.folder, spot.name, change.expect.version);
      if (!isExpected) return failed(conflictAt(spot.path, 'was changed'));
    }
    const withheld = change.expect === undefined ? heldSecret(root, spot) : undefined;
    if (withheld !== undefined) return failed(withheld);
    const below = await treeBelow(root, spot);
    if (!below.ok) return failed(below);
    const { paths, bytes } = below.value;
    if (paths.length > 0 && change.recursive !== true) {
      const message = `${shortPath(spot.path)} is a folder with ${paths.length} entries: set recursive to delete it.`;
      return failed(fail('INVALID_INPUT', message, { entries: paths.length }));
    }
    const same = leadsAsPlanned(writer, change.path, spot);
    if (!same.ok) return failed(same);
    const temp = tempName();
    const before = spot.stat;
    const { ino: inode, mtimeMs: modifiedMs } = before;
    const image: Snapshot | null =
      journal === undefined
        ? null
        : { by: 'tree', name: treeName(temp, bytes), digest: null, size: bytes, mode: spot.stat.mode };
    scope.sync.expect(1);
    return ok({
      places: [spot],
      phase: scope.swapped.has(spot.path) ? 'swap' : 'delete',
      applied: {
        kind: 'delete',
        path: spot.path,
        deleted: [spot.path, ...paths],
        undoable: journal?.lasts === true,
      },
      ...(writer.rehearsal && { versions: { [spot.path]: await rehearsedVersion(spot) } }),
      recorded: { kind: 'delete', path: spot.path, temp, image, inode, modifiedMs },
      async perform() {
        const now = change.expect === undefined ? located : exactly(scope, spot.path);
        if (!now.ok) return now;
        if (change.expect !== undefined && !isSame(now.value.stat, before)) return conflictAt(spot.path, 'was changed');
        return remove(now.value, scope.sync, { temp, journal, image });
      },
      dispose: close,
    });
  } catch (thrown) {
    return failed(errnoFailure(thrown, change.path));
  }
}

/** The refusal of a file whose content is a secret, as for reading it. */
function heldSecret(root: WorkspaceRoot, spot: ResolvedPath): Result<never> | undefined {
  if (!spot.stat?.isFile() || spot.stat.size > MAX_WHOLE_BYTES) return undefined;
  const file = openFile(spot);
  if (!file.ok) return undefined;
  try {
    return secretWithheld(root, spot.path, readWhole(file.value, MAX_WHOLE_BYTES));
  } finally {
    closeSync(file.value.fd);
  }
}

/** The path of a change that says what it expects must lead there itself. */
function exactly({ folders }: SetScope, path: string): Result<ResolvedPath> {
  const found = folders.findExisting(path);
  return found.ok ? ok({ ...found.value, via: [], made: [] }) : found;
}

interface Removal {
  readonly temp: string;
  readonly journal: Journal | undefined;
  readonly image: Snapshot | null;
}

function remove({ folder, name, path }: ResolvedPath, sync: SetSync, { temp, journal, image }: Removal): Result<void> {
  try {
    if (journal === undefined || image === null || !moveAway(folder, name, journal.snapshots.folder.at(image.name))) {
      if (journal !== undefined && image !== null) {
        copyTree(folder, name, journal.snapshots.folder, { name: image.name, sync });
      }
      failpoint('workspace.copied');
      removeTree(folder, name, temp);
    }
    failpoint('workspace.deleted');
    sync.folder(folder);
    return ok(undefined);
  } catch (thrown) {
    return errnoFailure(thrown, path);
  }
}

/** False when the journal lies on another file system. */
function moveAway(folder: Folder, name: string, to: string): boolean {
  try {
    renameFolder(folder, name, to);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EXDEV') throw thrown;
    return false;
  }
}
