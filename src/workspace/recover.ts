import { rmdirSync, unlinkSync } from 'node:fs';
import type { Recorded } from './change-set.ts';
import { stateOf } from './current-state.ts';
import { errnoOf } from './errno.ts';
import type { Journal } from './journal.ts';
import type { Place } from './place.ts';
import { revert } from './revert.ts';
import { removeTree } from './tree.ts';
import { unmake } from './unmake.ts';

/**
 * After a crash: removes what lies around, and makes every change set of a dead process whole or undone. Sets of
 * processes that still live are theirs.
 */
export async function recover(place: Place, journal: Journal): Promise<void> {
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
      if (performed[index]) await revert(place, journal, change);
    }
    journal.abandon(set);
  }
  journal.settleLogs();
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
    const gone = stateOf(place, change.path).type === 'nothing';
    removeBeside(place, change.path, change.temp);
    if (!gone && change.image !== null) removeTree(journal.images.folder, change.image.name);
    return gone;
  }
  removeBeside(place, change.to, change.temp);
  const [from, to] = [stateOf(place, change.from), stateOf(place, change.to)];
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
    removeTree(located.value.folder, temp);
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
