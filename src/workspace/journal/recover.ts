import { rmdirSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import { discardTree } from '../../host/visit-tree.ts';
import type { Logger } from '../../kernel/ports.ts';
import { syncFolder } from '../change/copy-tree.ts';
import { moveName } from '../change/move-name.ts';
import { tempName } from '../change/prepared-change.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import { SetSync } from '../change/sync-set.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { ChangeSet, RecordedChange, RecordedTake } from './change-set.ts';
import { stateOf } from './current-state.ts';
import type { Journal } from './journal.ts';
import { revert } from './revert.ts';

/**
 * Cleans up after a crash: removes temporary files, and completes or undoes every change set of an ended process. Sets of
 * running processes are left alone.
 */
export async function recover(root: WorkspaceRoot, journal: Journal, log: Logger): Promise<void> {
  for (const set of journal.unfinished(root.names.real).toReversed()) {
    if (set.making !== undefined || set.temps !== undefined) {
      for (const temp of set.temps ?? []) discardAt(root, temp);
      removeCreatedFolders(root, set.making === undefined ? [] : [set.making]);
      journal.abandon(set);
      continue;
    }
    const performed = set.changes.map((change) => settle(root, journal, change));
    if (performed.every(Boolean)) {
      journal.commit(set);
      continue;
    }
    const sync = new SetSync(root);
    sync.expect(set.changes.length);
    for (const [index, change] of [...set.changes.entries()].reverse()) {
      if (!performed[index]) continue;
      const back = await revert({ root, journal, sync, purpose: 'fail' }, change);
      if (!back.ok) tell(log, set, back.error.message, keepBeside(root, journal, change));
    }
    await sync.finish();
    journal.abandon(set);
  }
  journal.settleLogs();
}

/** Moves a deleted file beside its old path when that is taken, so that it is not lost. Returns its new path, if it was moved. */
function keepBeside(root: WorkspaceRoot, journal: Journal, change: RecordedChange): string | undefined {
  if (change.kind !== 'delete' || change.image === null) return undefined;
  const { snapshots: images } = journal;
  const located = root.locate(change.path, { last: 'keep' });
  if (!located.ok) return undefined;
  const { folder, name, path } = located.value;
  try {
    if (path !== change.path || images.folder.stat(change.image.name) === null) return undefined;
    let free = `${name}.recovered`;
    for (let count = 2; folder.stat(free) !== null; count++) free = `${name}.recovered-${count}`;
    moveName(images.folder, change.image.name, folder, { name: free, temp: tempName(), replace: false });
    syncFolder(folder);
    return folder.pathOf(free);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return undefined;
  } finally {
    folder.close();
  }
}

function tell(log: Logger, { callId }: ChangeSet, why: string, kept: string | undefined): void {
  const where = kept === undefined ? '' : ` What it had deleted is now ${shortPath(kept)}.`;
  log.warn({ callId }, `A call that a crash cut off could not be taken back whole: ${why}${where}`);
}

/** Cleans up one change. True when it was performed. */
function settle(root: WorkspaceRoot, journal: Journal, change: RecordedChange): boolean {
  if (change.kind === 'write') {
    removeBeside(root, change.path, change.temp);
    const done = stateOf(root, change.path).digests.includes(change.after);
    if (!done) removeCreatedFolders(root, change.made);
    return done;
  }
  if (change.kind === 'delete') {
    const { type, inode, modifiedMs } = stateOf(root, change.path);
    removeBeside(root, change.path, change.temp);
    if (type === 'nothing') return true;
    if (change.image === null || journal.snapshots.folder.stat(change.image.name) === null) return false;
    if (inode !== change.inode || modifiedMs !== change.modifiedMs) return true;
    // It is only a copy for a journal on another file system: the file itself is still at its path.
    discardTree(journal.snapshots.folder, change.image.name);
    return false;
  }
  if (change.kind === 'mode') {
    const { inode, mode } = stateOf(root, change.path, 'name');
    return inode === change.inode && mode === change.after;
  }
  if (change.kind === 'take') return settleTake(root, change);
  removeBeside(root, change.to, change.temp);
  const [from, to] = [stateOf(root, change.from), stateOf(root, change.to)];
  if (to.type !== 'nothing') removeBeside(root, change.from, change.temp);
  if (from.type === 'nothing') return to.type !== 'nothing';
  const halfway = to.type === 'file' ? to.inode === from.inode : to.type === 'directory' && from.type === 'directory';
  if (halfway) removeName(root, change.to, to.type === 'directory');
  removeCreatedFolders(root, change.made);
  return false;
}

function settleTake(root: WorkspaceRoot, change: RecordedTake): boolean {
  if (change.temp !== null) discardAt(root, change.temp);
  const { type, inode } = stateOf(root, change.path, 'name');
  if (type === change.type && inode === change.inode) return true;
  // An empty folder held the place of the one that was to come.
  if (type === 'directory' && change.type === 'directory') removeName(root, change.path, true);
  removeCreatedFolders(root, change.made);
  return false;
}

function discardAt(root: WorkspaceRoot, path: string): void {
  removeBeside(root, path, path.slice(path.lastIndexOf('/') + 1));
}

function removeBeside(root: WorkspaceRoot, path: string, temp: string): void {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return;
  try {
    discardTree(located.value.folder, temp);
  } finally {
    located.value.folder.close();
  }
}

/** A folder only while it is empty. */
function removeName(root: WorkspaceRoot, path: string, isFolder: boolean): void {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return;
  const { folder, name } = located.value;
  try {
    if (isFolder) rmdirSync(folder.at(name));
    else unlinkSync(folder.at(name));
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
  } finally {
    folder.close();
  }
}
