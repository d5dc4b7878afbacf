import { failpoint } from '../../kernel/failpoint.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ChangeSet, Recorded } from './change-set.ts';
import { guarded } from '../../host/errno.ts';
import { howFarBack, isAsLeft } from '../how-it-stands.ts';
import type { Journal } from './journal.ts';
import type { Place } from '../workspace-root.ts';
import { canRevert, revert } from '../revert.ts';

export interface Undone {
  /** The paths that are as they were before, latest change first. */
  readonly restored: readonly string[];
}

/**
 * Takes back everything a call changed: first looks whether each place still is as the call left it and what it was
 * before is still kept, then restores them, latest first. When one cannot be, nothing is touched; what stops it after
 * that leaves the rest for another undo, which goes on from there.
 */
export async function undoCall(place: Place, journal: Journal, callId: string): Promise<Result<Undone>> {
  const sets = setsOf(place, journal, callId).reverse();
  if (sets.length === 0) {
    return journal.wasUndone(callId)
      ? fail('CONFLICT', `The changes of call ${callId} were undone already.`)
      : fail('FILE_NOT_FOUND', `The journal knows no changes of call ${callId} in this workspace.`);
  }
  const judged = judge(place, journal, sets);
  if (!judged.ok) return judged;
  const isBack = judged.value;
  const restored: string[] = [];
  for (const set of sets) {
    const begun = guarded('The journal', () => ok(journal.beginUndo(set)));
    if (!begun.ok) return stopped(begun, restored);
    for (const change of [...set.changes].reverse()) {
      const back = isBack.has(change) ? ok(undefined) : await revert(place, journal, change);
      if (!back.ok) return stopped(back, restored);
      failpoint('workspace.reverted');
      restored.push(...pathsOf(change));
    }
    journal.setUndone(set);
  }
  return ok({ restored });
}

/** Whether the journal has changes of this call in this workspace that were not taken back. */
export function canUndo(place: Place, journal: Journal, callId: string): boolean {
  return setsOf(place, journal, callId).length > 0;
}

function setsOf(place: Place, journal: Journal, callId: string) {
  return journal.done(callId).filter((set) => set.root === place.names.real);
}

/** The changes that an undo before this one has taken back, or why the rest cannot be. */
function judge(place: Place, journal: Journal, sets: readonly ChangeSet[]): Result<ReadonlySet<Recorded>> {
  const isBack = new Set<Recorded>();
  // A path that the call changed twice is judged by its last change only: the earlier ones come right on the way.
  const judged = new Set<string>();
  for (const set of sets) {
    for (const change of [...set.changes].reverse()) {
      const seen = pathsOf(change).some((path) => judged.has(path));
      for (const path of pathsOf(change)) judged.add(path);
      const far = set.undoing === true && !seen ? howFarBack(place, journal, change) : 'none';
      if (far === 'all') {
        isBack.add(change);
        continue;
      }
      const asLeft = seen || far === 'half' ? ok(undefined) : isAsLeft(place, change);
      if (!asLeft.ok) return asLeft;
      const kept = canRevert(journal, change);
      if (!kept.ok) return kept;
    }
  }
  return ok(isBack);
}

function stopped(failure: Result<never>, restored: readonly string[]): Result<never> {
  if (failure.ok) return failure;
  const { code, message, details } = failure.error;
  if (restored.length === 0) return failure;
  const text = `${message} Taken back by then: ${restored.join(', ')}. Undo the call again to go on with the rest.`;
  return fail(code, text, { ...details, restored });
}

function pathsOf(change: Recorded): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}
