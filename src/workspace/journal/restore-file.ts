import { closeSync, constants, linkSync, openSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { copyOwnership, copySymlinkOwnership, type FileOwnership } from '../change/copy-ownership.ts';
import { writeAll } from '../change/copy-tree.ts';
import { tempName } from '../change/prepared-change.ts';
import type { SetSync } from '../change/sync-set.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { Snapshot } from './change-set.ts';
import type { Journal } from './journal.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Where and why changes go back. */
export interface Reversal {
  readonly root: WorkspaceRoot;
  readonly journal: Journal;
  readonly sync: SetSync;
  /** `fail`: the set was not completed, so that a taken file goes back into its stage. `undo`: it is not needed any more. */
  readonly purpose: 'fail' | 'undo';
}

/** Restores a copy with the old mode and owner by a rename. A file that is too large to copy is linked back itself. */
export function restoreFile(
  { journal, sync }: Reversal,
  image: Snapshot,
  { folder, name }: ResolvedPath,
): Result<void> {
  const temp = tempName();
  const bytes = image.by === 'target' ? ok(null) : journal.snapshots.bytesOf(image);
  if (!bytes.ok && bytes.error.code !== 'TOO_LARGE') return bytes;
  try {
    if (!bytes.ok) linkSync(journal.snapshots.folder.at(image.name), folder.at(temp));
    else if (bytes.value === null) linkTo(image.name, folder.at(temp), image);
    else writeCopy(folder.at(temp), bytes.value, { like: image, sync });
    failpoint('workspace.restoring');
    renameSync(folder.at(temp), folder.at(name));
  } catch (thrown) {
    rmSync(folder.at(temp), { force: true });
    throw thrown;
  }
  sync.folder(folder);
  return ok(undefined);
}

function linkTo(target: string, path: string, like: FileOwnership): void {
  symlinkSync(target, path);
  copySymlinkOwnership(path, like);
}

function writeCopy(
  path: string,
  bytes: Buffer,
  { like, sync }: { readonly like: FileOwnership; readonly sync: SetSync },
): void {
  const fd = openSync(path, CREATE, 0o600);
  try {
    writeAll(fd, bytes);
    copyOwnership(fd, like);
    sync.file(fd);
  } finally {
    closeSync(fd);
  }
}

/** Does something at a path of a change, which must still lead there itself. Missing folders above are made. */
export async function atPath(
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

export function lost(path: string): Result<never> {
  return fail('FILE_NOT_FOUND', `What ${shortPath(path)} was before is no longer kept, so it cannot be restored.`);
}
