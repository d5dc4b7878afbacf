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
import { failpoint } from '../kernel/failpoint.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Image, Recorded } from './journal/change-set.ts';
import { syncFolder, writeAll } from './change/copy-tree.ts';
import { type Dress, dress, dressLink } from './dress.ts';
import { guardedLater } from '../host/errno.ts';
import type { Journal } from './journal/journal.ts';
import { moveName } from './change/move-name.ts';
import { shown } from '../host/parse-path.ts';
import type { Place } from './workspace-root.ts';
import { tempName } from './prepared.ts';
import { unmake } from './unmake.ts';
import type { Spot } from '../host/walk-path.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Makes one performed change undone. Whether it may be is the caller's question. */
export function revert(place: Place, journal: Journal, change: Recorded): Promise<Result<void>> {
  const path = change.kind === 'move' ? change.to : change.path;
  return guardedLater(path, () => {
    if (change.kind === 'write') return revertWrite(place, journal, change);
    return change.kind === 'delete' ? revertDelete(place, journal, change) : revertMove(place, journal, change);
  });
}

/** Whether all that `revert` needs is still kept. */
export function canRevert(journal: Journal, change: Recorded): Result<void> {
  if (change.kind === 'delete') return isKept(journal, change) ? ok(undefined) : lost(change.path);
  const [path, image] = change.kind === 'write' ? [change.path, change.before] : [change.to, change.replaced];
  if (change.undoable === false) return lost(path);
  if (image === null || image.by === 'target') return ok(undefined);
  const bytes = journal.images.bytesOf(image);
  if (bytes.ok || bytes.error.code === 'TOO_LARGE') return ok(undefined);
  return bytes.error.code === 'FILE_NOT_FOUND' ? lost(path) : bytes;
}

function isKept(journal: Journal, { image }: Extract<Recorded, { kind: 'delete' }>): boolean {
  return image !== null && journal.images.folder.stat(image.name) !== null;
}

function revertWrite(
  place: Place,
  journal: Journal,
  change: Extract<Recorded, { kind: 'write' }>,
): Promise<Result<void>> {
  if (!change.undoable) return Promise.resolve(lost(change.path));
  return at(place, change.path, async (spot) => {
    if (change.before !== null) return restore(journal, change.before, spot);
    unlinkSync(spot.folder.at(spot.name));
    syncFolder(spot.folder);
    unmake(place, change.made);
    return ok(undefined);
  });
}

function revertDelete(
  place: Place,
  journal: Journal,
  change: Extract<Recorded, { kind: 'delete' }>,
): Promise<Result<void>> {
  const { image } = change;
  if (image === null || !isKept(journal, change)) return Promise.resolve(lost(change.path));
  return at(place, change.path, async ({ folder, name }) => {
    moveName(journal.images.folder, image.name, folder, { name, temp: tempName(), replace: false });
    syncFolder(folder);
    return ok(undefined);
  });
}

function revertMove(
  place: Place,
  journal: Journal,
  change: Extract<Recorded, { kind: 'move' }>,
): Promise<Result<void>> {
  return at(place, change.to, (to) =>
    at(place, change.from, async (from) => {
      // An undo that stopped in between has moved it already.
      const isBack = to.stat === null && from.stat !== null;
      if (!isBack) moveName(to.folder, to.name, from.folder, { name: from.name, temp: tempName(), replace: false });
      syncFolder(from.folder);
      syncFolder(to.folder);
      const restored = change.replaced === null ? ok(undefined) : await restore(journal, change.replaced, to);
      unmake(place, change.made);
      return restored;
    }),
  );
}

/** A copy with the old mode and owner, put in place by rename. What is too large for that comes back itself. */
async function restore(journal: Journal, image: Image, { folder, name }: Spot): Promise<Result<void>> {
  const temp = tempName();
  const bytes = image.by === 'target' ? ok(null) : journal.images.bytesOf(image);
  if (!bytes.ok && bytes.error.code !== 'TOO_LARGE') return bytes;
  try {
    if (!bytes.ok) linkSync(journal.images.folder.at(image.name), folder.at(temp));
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

function linkTo(target: string, path: string, like: Dress): void {
  symlinkSync(target, path);
  dressLink(path, like);
}

function writeCopy(path: string, bytes: Buffer, like: Dress): void {
  const fd = openSync(path, CREATE, 0o600);
  try {
    writeAll(fd, bytes);
    dress(fd, like);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function at(place: Place, path: string, work: (spot: Spot) => Promise<Result<void>>): Promise<Result<void>> {
  const located = place.locate(path, { last: 'keep', make: () => ok(undefined) });
  if (!located.ok) return located;
  try {
    if (located.value.path !== path) {
      return fail('CONFLICT', `${shown(path)} leads elsewhere by now: a folder above it became a link.`);
    }
    return await work(located.value);
  } finally {
    located.value.folder.close();
  }
}

function lost(path: string): Result<never> {
  return fail('FILE_NOT_FOUND', `What ${shown(path)} was before is no longer kept, so it cannot be restored.`);
}
