import { fail, ok, type Result } from '../kernel/result.ts';
import type { Image, Recorded } from './journal/change-set.ts';
import { isCopied } from './change/copy-tree.ts';
import { type State, stateOf } from './current-state.ts';
import { errnoOf } from '../host/errno.ts';
import type { Journal } from './journal/journal.ts';
import { shown } from '../host/parse-path.ts';
import type { Place } from './workspace-root.ts';

type Change<Kind> = Extract<Recorded, { kind: Kind }>;

/** Whether everything a change touched still is as the change left it. CONFLICT says what is not. */
export function isAsLeft(place: Place, change: Recorded): Result<void> {
  if (change.kind === 'write') {
    const { digest } = stateOf(place, change.path);
    return digest === change.after ? ok(undefined) : changed(change.path, digest === null ? 'is gone' : 'was changed');
  }
  if (change.kind === 'delete') {
    return stateOf(place, change.path).type === 'nothing' ? ok(undefined) : changed(change.path, 'was made anew');
  }
  if (stateOf(place, change.from).type !== 'nothing') return changed(change.from, 'was made anew');
  return isWhatMoved(change, stateOf(place, change.to)) ? ok(undefined) : changed(change.to, 'was changed');
}

/** How far an undo that stopped came with a change: `half` is a move back without what the move had replaced. */
export function howFarBack(place: Place, journal: Journal, change: Recorded): 'all' | 'half' | 'none' {
  if (change.kind === 'write') {
    return change.undoable && isAgain(journal, change.before, stateOf(place, change.path)) ? 'all' : 'none';
  }
  if (change.kind === 'delete') return isMovedOut(place, journal, change) ? 'all' : 'none';
  if (!isWhatMoved(change, stateOf(place, change.from))) return 'none';
  const to = stateOf(place, change.to);
  if (isAgain(journal, change.replaced, to)) return 'all';
  return to.type === 'nothing' ? 'half' : 'none';
}

function isAgain({ images }: Journal, image: Image | null, now: State): boolean {
  if (image === null) return now.type === 'nothing';
  if (image.by === 'target') return now.type === 'symlink';
  return images.isBackAs(image, now);
}

/** What was deleted leaves the journal when it comes back; one on another file system, after a copy stands in its place. */
function isMovedOut(place: Place, { images }: Journal, { path, image }: Change<'delete'>): boolean {
  if (image === null) return false;
  if (images.folder.stat(image.name) === null) return stateOf(place, path).type !== 'nothing';
  const located = place.locate(path, { last: 'keep' });
  if (!located.ok) return false;
  const { folder, name, path: real } = located.value;
  try {
    return real === path && isCopied(images.folder, image.name, folder, name);
  } catch (thrown) {
    if (errnoOf(thrown) === undefined) throw thrown;
    return false;
  } finally {
    folder.close();
  }
}

function isWhatMoved(change: Change<'move'>, now: State): boolean {
  const same = now.inode === change.inode || (change.digest !== null && now.digest === change.digest);
  const copiedFolder = change.type !== 'file' && change.copied === true;
  if (now.type !== change.type || !(same || copiedFolder)) return false;
  return change.digest === null || now.digest === change.digest;
}

function changed(path: string, how: string): Result<never> {
  const message = `${shown(path)} ${how} after that call, so undoing it would lose later work. Undo the later change first.`;
  return fail('CONFLICT', message, { path });
}
