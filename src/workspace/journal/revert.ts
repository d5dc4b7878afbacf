import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { catchErrnoAsync } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { copyOwnership, copySymlinkOwnership, type FileOwnership } from '../change/copy-ownership.ts';
import { syncFolder, writeAll } from '../change/copy-tree.ts';
import { moveName } from '../change/move-name.ts';
import { tempName } from '../change/prepared-change.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { RecordedChange, Snapshot } from './change-set.ts';
import type { Journal } from './journal.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Undoes one performed change. The caller has checked that it may be undone. */
export function revert(root: WorkspaceRoot, journal: Journal, change: RecordedChange): Promise<Result<void>> {
  const path = change.kind === 'move' ? change.to : change.path;
  return catchErrnoAsync(path, () => {
    if (change.kind === 'write') return revertWrite(root, journal, change);
    return change.kind === 'delete' ? revertDelete(root, journal, change) : revertMove(root, journal, change);
  });
}

/** Whether all that `revert` needs is still kept. */
export function canRevert(journal: Journal, change: RecordedChange): Result<void> {
  if (change.kind === 'delete') return isKept(journal, change) ? ok(undefined) : lost(change.path);
  const [path, image] = change.kind === 'write' ? [change.path, change.before] : [change.to, change.replaced];
  if (change.undoable === false) return lost(path);
  if (image === null || image.by === 'target') return ok(undefined);
  const bytes = journal.snapshots.bytesOf(image);
  if (bytes.ok || bytes.error.code === 'TOO_LARGE') return ok(undefined);
  return bytes.error.code === 'FILE_NOT_FOUND' ? lost(path) : bytes;
}

function isKept(journal: Journal, { image }: Extract<RecordedChange, { kind: 'delete' }>): boolean {
  return image !== null && journal.snapshots.folder.stat(image.name) !== null;
}

function revertWrite(
  root: WorkspaceRoot,
  journal: Journal,
  change: Extract<RecordedChange, { kind: 'write' }>,
): Promise<Result<void>> {
  if (!change.undoable) return Promise.resolve(lost(change.path));
  return at(root, change.path, async (spot) => {
    if (change.before !== null) return restore(journal, change.before, spot);
    unlinkSync(spot.folder.at(spot.name));
    syncFolder(spot.folder);
    removeCreatedFolders(root, change.made);
    return ok(undefined);
  });
}

function revertDelete(
  root: WorkspaceRoot,
  journal: Journal,
  change: Extract<RecordedChange, { kind: 'delete' }>,
): Promise<Result<void>> {
  const { image } = change;
  if (image === null || !isKept(journal, change)) return Promise.resolve(lost(change.path));
  return at(root, change.path, async ({ folder, name }) => {
    moveName(journal.snapshots.folder, image.name, folder, { name, temp: tempName(), replace: false });
    syncFolder(folder);
    return ok(undefined);
  });
}

function revertMove(
  root: WorkspaceRoot,
  journal: Journal,
  change: Extract<RecordedChange, { kind: 'move' }>,
): Promise<Result<void>> {
  return at(root, change.to, (to) =>
    at(root, change.from, async (from) => {
      // An undo that stopped in between has moved it already.
      const isBack = to.stat === null && from.stat !== null;
      if (!isBack) moveName(to.folder, to.name, from.folder, { name: from.name, temp: tempName(), replace: false });
      syncFolder(from.folder);
      syncFolder(to.folder);
      const restored = change.replaced === null ? ok(undefined) : await restore(journal, change.replaced, to);
      removeCreatedFolders(root, change.made);
      return restored;
    }),
  );
}

/** Restores a copy with the old mode and owner by a rename. A file that is too large to copy is linked back itself. */
async function restore(journal: Journal, image: Snapshot, { folder, name }: ResolvedPath): Promise<Result<void>> {
  const temp = tempName();
  const bytes = image.by === 'target' ? ok(null) : journal.snapshots.bytesOf(image);
  if (!bytes.ok && bytes.error.code !== 'TOO_LARGE') return bytes;
  try {
    if (!bytes.ok) linkSync(journal.snapshots.folder.at(image.name), folder.at(temp));
    else if (bytes.value === null) linkTo(image.name, folder.at(temp), image);
    else writeCopy(folder.at(temp), bytes.value, image);
    failpoint('workspace.restoring');
    renameSync(folder.at(temp), folder.at(name));
  } catch (thrown) {
    rmSync(folder.at(temp), { force: true });
    throw thrown;
  }
  syncFolder(folder);
  return ok(undefined);
}

function linkTo(target: string, path: string, like: FileOwnership): void {
  symlinkSync(target, path);
  copySymlinkOwnership(path, like);
}

function writeCopy(path: string, bytes: Buffer, like: FileOwnership): void {
  const fd = openSync(path, CREATE, 0o600);
  try {
    writeAll(fd, bytes);
    copyOwnership(fd, like);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function at(
  root: WorkspaceRoot,
  path: string,
  work: (spot: ResolvedPath) => Promise<Result<void>>,
): Promise<Result<void>> {
  const located = root.locate(path, { last: 'keep', make: () => ok(undefined) });
  if (!located.ok) return located;
  try {
    if (located.value.path !== path) {
      return fail('CONFLICT', `${shortPath(path)} leads elsewhere by now: a folder above it became a link.`);
    }
    return await work(located.value);
  } finally {
    located.value.folder.close();
  }
}

function lost(path: string): Result<never> {
  return fail('FILE_NOT_FOUND', `What ${shortPath(path)} was before is no longer kept, so it cannot be restored.`);
}
