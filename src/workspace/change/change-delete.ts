import { renameSync } from 'node:fs';
import { errnoFailure, errnoOf } from '../../host/errno.ts';
import { notFound } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import { discardTree } from '../../host/visit-tree.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import type { Snapshot } from '../journal/change-set.ts';
import type { Journal } from '../journal/journal.ts';
import { treeName } from '../journal/snapshots.ts';
import { copyTree, syncFolder } from './copy-tree.ts';
import { type PreparedChange, tempName, type Writer } from './prepared-change.ts';
import { treeBelow } from './tree-below.ts';

type Delete = Extract<Change, { kind: 'delete' }>;

/** Prepares a delete: the file or folder is moved into the journal whole, so that it can come back. The target of a symlink stays. */
export async function prepareDelete(writer: Writer, change: Delete): Promise<Result<PreparedChange>> {
  const { root, journal } = writer;
  const located = root.locate(change.path, { last: 'keep' });
  if (!located.ok) return located;
  const spot = located.value;
  const failed = (result: Result<never>): Result<never> => {
    spot.folder.close();
    return result;
  };

  try {
    if (spot.name === '') return failed(fail('PERMISSION_DENIED', 'The workspace itself cannot be deleted.'));
    if (spot.stat === null) return failed(notFound(spot.path));
    const secret = spot.stat.isFile() ? await writer.secrets.refuse(spot.path, spot.stat) : undefined;
    if (secret !== undefined) return failed(secret);
    const below = await treeBelow(root, spot);
    if (!below.ok) return failed(below);
    const { paths, bytes } = below.value;
    if (paths.length > 0 && change.recursive !== true) {
      const message = `${shortPath(spot.path)} is a folder with ${paths.length} entries: set recursive to delete it.`;
      return failed(fail('INVALID_INPUT', message, { entries: paths.length }));
    }
    const open = writer.stillOpen?.(change.path, spot) ?? ok(undefined);
    if (!open.ok) return failed(open);
    const temp = tempName();
    const { ino: inode, mtimeMs: modifiedMs } = spot.stat;
    const image: Snapshot | null =
      journal === undefined
        ? null
        : { by: 'tree', name: treeName(temp, bytes), digest: null, size: bytes, mode: spot.stat.mode };
    return ok({
      paths: [spot.path],
      applied: { kind: 'delete', path: spot.path, deleted: [spot.path, ...paths], undoable: journal?.lasts === true },
      recorded: { kind: 'delete', path: spot.path, temp, image, inode, modifiedMs },
      perform: () => remove(spot, temp, journal, image),
      dispose: () => spot.folder.close(),
    });
  } catch (thrown) {
    return failed(errnoFailure(thrown, change.path));
  }
}

async function remove(
  { folder, name, path }: ResolvedPath,
  temp: string,
  journal: Journal | undefined,
  image: Snapshot | null,
): Promise<Result<void>> {
  try {
    if (
      journal === undefined ||
      image === null ||
      !moveAway(folder.at(name), journal.snapshots.folder.at(image.name))
    ) {
      if (journal !== undefined && image !== null) copyTree(folder, name, journal.snapshots.folder, image.name);
      failpoint('workspace.copied');
      renameSync(folder.at(name), folder.at(temp));
      // It is deleted by now, whatever is left of it under this name.
      discardTree(folder, temp);
    }
    syncFolder(folder);
    return ok(undefined);
  } catch (thrown) {
    return errnoFailure(thrown, path);
  }
}

/** False when the journal lies on another file system. */
function moveAway(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EXDEV') throw thrown;
    return false;
  }
}
