import { rmdirSync, unlinkSync } from 'node:fs';
import type { Logger } from '../kernel/ports.ts';
import type { ChangeSet, Recorded } from './journal/change-set.ts';
import { syncFolder } from './change/copy-tree.ts';
import { stateOf } from './current-state.ts';
import { errnoOf } from '../host/errno.ts';
import type { Journal } from './journal/journal.ts';
import { moveName } from './change/move-name.ts';
import { shown } from '../host/parse-path.ts';
import type { Place } from './workspace-root.ts';
import { tempName } from './prepared.ts';
import { revert } from './revert.ts';
import { discardTree } from '../host/visit-tree.ts';
import { unmake } from './unmake.ts';

/**
 * After a crash: removes what lies around, and makes every change set of a dead process whole or undone. Sets of
 * processes that still live are theirs.
 */
export async function recover(place: Place, journal: Journal, log: Logger): Promise<void> {
  for (const set of journal.unfinished(place.names.real).toReversed()) {
    if (set.making !== undefined) {
      unmake(place, [set.making]);
      journal.abandon(set);
      continue;
    }
    const performed = set.changes.map((change) => settle(place, journal, change));
    if (performed.every(Boolean)) {
      journal.commit(set);
      continue;
    }
    for (const [index, change] of [...set.changes.entries()].reverse()) {
      if (!performed[index]) continue;
      const back = await revert(place, journal, change);
      if (!back.ok) tell(log, set, back.error.message, keepBeside(place, journal, change));
    }
    journal.abandon(set);
  }
  journal.settleLogs();
}

/** What a change deleted must not be lost because something else stands there by now. Where it is, or undefined. */
function keepBeside(place: Place, journal: Journal, change: Recorded): string | undefined {
  if (change.kind !== 'delete' || change.image === null) return undefined;
  const { images } = journal;
  const located = place.locate(change.path, { last: 'keep' });
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
  const where = kept === undefined ? '' : ` What it had deleted is now ${shown(kept)}.`;
  log.warn({ callId }, `A call that a crash cut off could not be taken back whole: ${why}${where}`);
}

/** Cleans up one change. True when it was performed. */
function settle(place: Place, journal: Journal, change: Recorded): boolean {
  if (change.kind === 'write') {
    removeBeside(place, change.path, change.temp);
    const done = stateOf(place, change.path).digest === change.after;
    if (!done) unmake(place, change.made);
    return done;
  }
  if (change.kind === 'delete') {
    const { type, inode, modifiedMs } = stateOf(place, change.path);
    removeBeside(place, change.path, change.temp);
    if (type === 'nothing') return true;
    if (change.image === null || journal.images.folder.stat(change.image.name) === null) return false;
    if (inode !== change.inode || modifiedMs !== change.modifiedMs) return true;
    // Only a copy, made for a journal on another file system: the thing itself still stands there.
    discardTree(journal.images.folder, change.image.name);
    return false;
  }
  removeBeside(place, change.to, change.temp);
  const [from, to] = [stateOf(place, change.from), stateOf(place, change.to)];
  if (to.type !== 'nothing') removeBeside(place, change.from, change.temp);
  if (from.type === 'nothing') return to.type !== 'nothing';
  const halfway = to.type === 'file' ? to.inode === from.inode : to.type === 'directory' && from.type === 'directory';
  if (halfway) removeName(place, change.to, to.type === 'directory');
  unmake(place, change.made);
  return false;
}

function removeBeside(place: Place, path: string, temp: string): void {
  const located = place.locate(path, { last: 'keep' });
  if (!located.ok) return;
  try {
    discardTree(located.value.folder, temp);
  } finally {
    located.value.folder.close();
  }
}

/** A folder only while it is empty. */
function removeName(place: Place, path: string, isFolder: boolean): void {
  const located = place.locate(path, { last: 'keep' });
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
