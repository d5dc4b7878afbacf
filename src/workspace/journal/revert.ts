import { unlinkSync } from 'node:fs';
import { catchErrnoAsync } from '../../host/errno.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { moveName } from '../change/move-name.ts';
import { tempName } from '../change/prepared-change.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import type { RecordedChange } from './change-set.ts';
import type { Journal } from './journal.ts';
import { atPath, lost, type Reversal, restoreFile } from './restore-file.ts';
import { revertMode, revertTake } from './revert-take.ts';

type Recorded<Kind> = Extract<RecordedChange, { kind: Kind }>;

/** Undoes one performed change. The caller has checked that it may be undone. */
export function revert(reversal: Reversal, change: RecordedChange): Promise<Result<void>> {
  const path = change.kind === 'move' ? change.to : change.path;
  return catchErrnoAsync(path, () => {
    switch (change.kind) {
      case 'write':
        return revertWrite(reversal, change);
      case 'delete':
        return revertDelete(reversal, change);
      case 'move':
        return revertMove(reversal, change);
      case 'take':
        return revertTake(reversal, change);
      case 'mode':
        return revertMode(reversal, change);
    }
  });
}

/** Whether all that `revert` needs is still kept. */
export function canRevert(journal: Journal, change: RecordedChange): Result<void> {
  if (change.kind === 'mode') return ok(undefined);
  if (change.kind === 'delete') return isKept(journal, change) ? ok(undefined) : lost(change.path);
  const path = change.kind === 'move' ? change.to : change.path;
  const image = change.kind === 'write' ? change.before : change.replaced;
  if (change.undoable === false) return lost(path);
  if (image === null || image.by === 'target') return ok(undefined);
  const bytes = journal.snapshots.bytesOf(image);
  if (bytes.ok || bytes.error.code === 'TOO_LARGE') return ok(undefined);
  return bytes.error.code === 'FILE_NOT_FOUND' ? lost(path) : bytes;
}

function isKept(journal: Journal, { image }: Recorded<'delete'>): boolean {
  return image !== null && journal.snapshots.folder.stat(image.name) !== null;
}

function revertWrite(reversal: Reversal, change: Recorded<'write'>): Promise<Result<void>> {
  const { root, sync } = reversal;
  if (!change.undoable) return Promise.resolve(lost(change.path));
  return atPath(root, change.path, async (spot) => {
    if (change.before !== null) return restoreFile(reversal, change.before, spot);
    unlinkSync(spot.folder.at(spot.name));
    sync.folder(spot.folder);
    removeCreatedFolders(root, change.made);
    return ok(undefined);
  });
}

function revertDelete({ root, journal, sync }: Reversal, change: Recorded<'delete'>): Promise<Result<void>> {
  const { image } = change;
  if (image === null || !isKept(journal, change)) return Promise.resolve(lost(change.path));
  return atPath(root, change.path, async ({ folder, name }) => {
    moveName(journal.snapshots.folder, image.name, folder, { name, temp: tempName(), replace: false });
    sync.folder(folder);
    return ok(undefined);
  });
}

function revertMove(reversal: Reversal, change: Recorded<'move'>): Promise<Result<void>> {
  const { root, sync } = reversal;
  return atPath(root, change.to, (to) =>
    atPath(root, change.from, async (from) => {
      // An undo that stopped in between has moved it already.
      const isBack = to.stat === null && from.stat !== null;
      if (!isBack) moveName(to.folder, to.name, from.folder, { name: from.name, temp: tempName(), replace: false });
      sync.folder(from.folder);
      sync.folder(to.folder);
      const restored = change.replaced === null ? ok(undefined) : restoreFile(reversal, change.replaced, to);
      removeCreatedFolders(root, change.made);
      return restored;
    }),
  );
}
