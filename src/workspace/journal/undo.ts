import { catchErrno } from '../../host/errno.ts';
import { knownCode } from '../../kernel/error.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { removeCreatedFolders } from '../change/remove-created-folders.ts';
import { SetSync } from '../change/sync-set.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import type { ChangeSet, RecordedChange } from './change-set.ts';
import { checkUnchanged, undoProgress } from './compare-state.ts';
import { stateOf } from './current-state.ts';
import type { Journal } from './journal.ts';
import type { Reversal } from './restore-file.ts';
import { canRevert, revert } from './revert.ts';

export interface Undone {
  /** The paths that are as they were before, latest change first. */
  readonly restored: readonly string[];
}

/**
 * Undoes everything a call changed. First checks that each path is as the call left it and that its old file is kept,
 * then restores them, latest first. When one path fails the check, nothing is touched. When an undo is stopped halfway,
 * the next one goes on from there.
 */
export async function undoCall(root: WorkspaceRoot, journal: Journal, callId: string): Promise<Result<Undone>> {
  const sets = setsOf(root, journal, callId).reverse();
  if (sets.length === 0) {
    return journal.wasUndone(callId)
      ? fail('CONFLICT', `The changes of call ${callId} were undone already.`)
      : fail('FILE_NOT_FOUND', `Nothing to undo for call ${callId} in this workspace.`);
  }
  const judged = await judge(root, journal, sets);
  if (!judged.ok) return judged;
  const isBack = judged.value;
  const restored: string[] = [];
  const sync = new SetSync(root);
  for (const { changes } of sets) sync.expect(changes.length);
  const reversal: Reversal = { root, journal, sync, purpose: 'undo' };
  for (const set of sets) {
    const begun = catchErrno('The journal', () => ok(journal.beginUndo(set)));
    if (!begun.ok) return stopped(begun, restored);
    for (const change of [...set.changes].reverse()) {
      const back = isBack.has(change) ? ok(undefined) : await revert(reversal, change);
      if (!back.ok) return stopped(back, restored);
      if (isBack.has(change) && change.kind === 'take') removeCreatedFolders(root, change.made);
      failpoint('workspace.reverted');
      restored.push(...pathsOf(change));
    }
    const synced = await sync.finish();
    if (!synced.ok) return stopped(synced, restored);
    journal.setUndone(set);
  }
  return ok({ restored });
}

/** Whether the journal has changes of this call in this workspace that were not taken back. */
export function canUndo(root: WorkspaceRoot, journal: Journal, callId: string): boolean {
  return setsOf(root, journal, callId).length > 0;
}

/** The paths that were changed in this workspace when these pending changes were kept. */
export function keptPaths(root: WorkspaceRoot, journal: Journal, stage: string): readonly string[] {
  const sets = journal.keeping(stage).filter((set) => set.root === root.names.real);
  return [...new Set(sets.flatMap(({ changes }) => changes.flatMap(pathsOf)))];
}

function setsOf(root: WorkspaceRoot, journal: Journal, callId: string) {
  return journal.done(callId).filter((set) => set.root === root.names.real);
}

/** The changes that an undo before this one has taken back, or why the rest cannot be. */
async function judge(
  root: WorkspaceRoot,
  journal: Journal,
  sets: readonly ChangeSet[],
): Promise<Result<ReadonlySet<RecordedChange>>> {
  const isBack = new Set<RecordedChange>();
  // A path that the call changed twice is judged by its last change only: the earlier ones come right on the way.
  const judged = new Set<string>();
  for (const set of sets) {
    for (const change of [...set.changes].reverse()) {
      const seen = pathsOf(change).some((path) => judged.has(path));
      for (const path of pathsOf(change)) judged.add(path);
      if (change.kind === 'take') for (const path of change.made) judged.add(path);
      const far = set.undoing === true ? progressOf(root, journal, { change, seen }) : 'none';
      if (far === 'all') {
        isBack.add(change);
        continue;
      }
      const asLeft = seen || far === 'half' ? ok(undefined) : await checkUnchanged(root, change);
      if (!asLeft.ok) return asLeft;
      const kept = canRevert(journal, change);
      if (!kept.ok) return kept;
    }
  }
  return ok(isBack);
}

/** Of a path that the call changed again later, only a deleted file is known when it is back itself. */
function progressOf(
  root: WorkspaceRoot,
  journal: Journal,
  { change, seen }: { readonly change: RecordedChange; readonly seen: boolean },
): 'all' | 'half' | 'none' {
  if (!seen) return undoProgress(root, journal, change);
  if (change.kind !== 'delete' || change.inode === undefined) return 'none';
  return stateOf(root, change.path, 'name').inode === change.inode ? 'all' : 'none';
}

function stopped(failure: Result<never>, restored: readonly string[]): Result<never> {
  if (failure.ok) return failure;
  const { code, message, details } = failure.error;
  if (restored.length === 0) return failure;
  const text = `${message} Undone so far: ${restored.join(', ')}. Undo the call again to go on with the rest.`;
  return fail(knownCode(code), text, { ...details, restored });
}

function pathsOf(change: RecordedChange): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}
