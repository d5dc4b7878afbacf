import { errnoOf } from '../../host/errno.ts';
import { shortPath } from '../../host/parse-path.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { isCopied } from '../change/copy-tree.ts';
import { readVersion } from '../change/expectation.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { RecordedChange, RecordedTake, Snapshot } from './change-set.ts';
import { type PathState, stateOf } from './current-state.ts';
import type { Journal } from './journal.ts';

type Change<Kind> = Extract<RecordedChange, { kind: Kind }>;

/** Checks that every path of a change is as the change left it. CONFLICT names the path that is not. */
export async function checkUnchanged(root: WorkspaceRoot, change: RecordedChange): Promise<Result<void>> {
  if (change.kind === 'take') return checkTaken(root, change);
  if (change.kind === 'mode') {
    const { type, mode } = stateOf(root, change.path, 'name');
    if (type === 'nothing') return changed(change.path, 'is gone');
    return mode === change.after ? ok(undefined) : changed(change.path, 'got other permissions');
  }
  if (change.kind === 'write') {
    const { digests } = stateOf(root, change.path);
    if (digests.includes(change.after)) return ok(undefined);
    return changed(change.path, digests.length === 0 ? 'is gone' : 'was changed');
  }
  if (change.kind === 'delete') {
    return stateOf(root, change.path).type === 'nothing' ? ok(undefined) : changed(change.path, 'was made anew');
  }
  if (stateOf(root, change.from).type !== 'nothing') return changed(change.from, 'was made anew');
  return isWhatMoved(change, stateOf(root, change.to)) ? ok(undefined) : changed(change.to, 'was changed');
}

async function checkTaken(root: WorkspaceRoot, change: RecordedTake): Promise<Result<void>> {
  const { path } = change;
  const now = stateOf(root, path);
  if (now.type === 'nothing') return changed(path, 'is gone');
  if (now.type !== change.type) return changed(path, 'was changed');
  if (now.type === 'file' && now.digests.length > 0 && change.digest !== null) {
    return now.digests.includes(change.digest) ? ok(undefined) : changed(path, 'was changed');
  }
  if (now.inode !== change.inode) return changed(path, 'was changed');
  if (now.type !== 'directory') {
    return now.modifiedMs === change.modifiedMs ? ok(undefined) : changed(path, 'was changed');
  }
  return (await treeDigestAt(root, path)) === change.digest ? ok(undefined) : changed(path, 'was changed inside');
}

async function treeDigestAt(root: WorkspaceRoot, path: string): Promise<string | null> {
  const located = root.locate(path, { last: 'keep' });
  if (!located.ok) return null;
  const { folder, name, stat } = located.value;
  try {
    return stat === null ? null : (await readVersion(folder, name, stat)).digest;
  } finally {
    folder.close();
  }
}

/** How far a stopped undo came with a change. `half`: moved back, but the file that the move had replaced is missing. */
export function undoProgress(root: WorkspaceRoot, journal: Journal, change: RecordedChange): 'all' | 'half' | 'none' {
  if (change.kind === 'write') {
    return change.undoable && isAgain(journal, change.before, stateOf(root, change.path)) ? 'all' : 'none';
  }
  if (change.kind === 'delete') return isMovedOut(root, journal, change) ? 'all' : 'none';
  if (change.kind === 'mode') return stateOf(root, change.path, 'name').mode === change.before ? 'all' : 'none';
  if (change.kind === 'take') return isGivenBack(journal, change, stateOf(root, change.path)) ? 'all' : 'none';
  if (!isWhatMoved(change, stateOf(root, change.from))) return 'none';
  const to = stateOf(root, change.to);
  if (isAgain(journal, change.replaced, to)) return 'all';
  return to.type === 'nothing' ? 'half' : 'none';
}

/** Where a new one was, there is nothing, or again the other kind of thing that was deleted for it. */
function isGivenBack(journal: Journal, change: RecordedTake, now: PathState): boolean {
  if (now.inode === change.inode) return false;
  return change.replaced === null ? now.type !== change.type : isAgain(journal, change.replaced, now);
}

function isAgain({ snapshots: images }: Journal, image: Snapshot | null, now: PathState): boolean {
  if (image === null) return now.type === 'nothing';
  if (image.by === 'target') return now.type === 'symlink';
  return images.isBackAs(image, now);
}

/** A deleted file leaves the journal when it comes back; on another file system, only after its copy is complete. */
function isMovedOut(root: WorkspaceRoot, { snapshots: images }: Journal, { path, image }: Change<'delete'>): boolean {
  if (image === null) return false;
  if (images.folder.stat(image.name) === null) return stateOf(root, path).type !== 'nothing';
  const located = root.locate(path, { last: 'keep' });
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

function isWhatMoved(change: Change<'move'>, now: PathState): boolean {
  const isContent = change.digest !== null && now.digests.includes(change.digest);
  const copiedFolder = change.type !== 'file' && change.copied === true;
  if (now.type !== change.type || !(now.inode === change.inode || isContent || copiedFolder)) return false;
  return change.digest === null || isContent;
}

function changed(path: string, how: string): Result<never> {
  const message = `${shortPath(path)} ${how} after that call, so undoing it would lose later work. Undo the later change first.`;
  return fail('CONFLICT', message, { path });
}
