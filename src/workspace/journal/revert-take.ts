import { renameSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../../host/errno.ts';
import { Folder } from '../../host/folder.ts';
import { discardTree } from '../../host/visit-tree.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { setMode } from '../change/change-mode.ts';
import { moveName, renameFolder } from '../change/move-name.ts';
import { tempName } from '../change/prepared-change.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import type { RecordedChange, RecordedTake } from './change-set.ts';
import { atPath, lost, type Reversal, restoreFile } from './restore-file.ts';
import { treeName } from './snapshots.ts';

/** Takes back what came from a stage; the file that it replaced comes back. */
export function revertTake(reversal: Reversal, change: RecordedTake): Promise<Result<void>> {
  const { root, sync, purpose } = reversal;
  if (!change.undoable) return Promise.resolve(lost(change.path));
  return atPath(root, change.path, async (spot) => {
    const isThere = spot.stat !== null && (purpose === 'undo' || spot.stat.ino === change.inode);
    if (isThere) {
      if (change.replaced !== null) return putBack(reversal, change, spot);
      const isBack = purpose === 'fail' && change.temp === null && wentIntoStage(change, spot);
      if (!isBack) moveOut(reversal, spot);
      failpoint('workspace.given-back');
      sync.folder(spot.folder);
    }
    removeCreatedFolders(root, change.made);
    return ok(undefined);
  });
}

/** After a failure the old file itself, with its times and other names; for an undo a copy, since others may need the kept one. */
function putBack(reversal: Reversal, change: RecordedTake, spot: ResolvedPath): Result<void> {
  const { journal, sync, purpose } = reversal;
  const image = change.replaced;
  if (image === null) return ok(undefined);
  const isItself = image.by === 'link' && journal.snapshots.folder.stat(image.name)?.ino === change.replacedInode;
  if (purpose !== 'fail' || !isItself) return restoreFile(reversal, image, spot);
  renameSync(journal.snapshots.folder.at(image.name), spot.folder.at(spot.name));
  failpoint('workspace.given-back');
  sync.folder(spot.folder);
  return ok(undefined);
}

/** Moves it back, so that the same changes can be kept later. False when the stage is gone. */
function wentIntoStage({ from, inode }: RecordedTake, { folder, name }: ResolvedPath): boolean {
  const stage = openOrNull(dirname(from));
  if (stage === null) return false;
  try {
    // A process that was killed between the second name and the removal of the first left both.
    if (stage.stat(basename(from))?.ino === inode) unlinkSync(folder.at(name));
    else moveName(folder, name, stage, { name: basename(from), temp: tempName(), replace: false });
    return true;
  } finally {
    stage.close();
  }
}

function openOrNull(path: string): Folder | null {
  try {
    return Folder.open(path);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return null;
  }
}

/** Out of the workspace by one rename, then away. */
function moveOut({ journal }: Reversal, { folder, name, stat }: ResolvedPath): void {
  const images = journal.snapshots.folder;
  const aside = treeName(tempName(), stat?.size ?? 0);
  try {
    renameFolder(folder, name, images.at(aside));
    discardTree(images, aside);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EXDEV') throw thrown;
    renameFolder(folder, name, folder.at(aside));
    discardTree(folder, aside);
  }
}

export function revertMode(
  { root, sync }: Reversal,
  { path, before }: Extract<RecordedChange, { kind: 'mode' }>,
): Promise<Result<void>> {
  return atPath(root, path, async ({ folder, name, stat }) => {
    if (stat === null) return lost(path);
    setMode(folder, name, { inode: stat.ino, mode: before });
    failpoint('workspace.mode-back');
    sync.folder(folder);
    return ok(undefined);
  });
}
