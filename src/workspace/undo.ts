import { fail, ok, type Result } from '../kernel/result.ts';
import type { Recorded } from './change-set.ts';
import { stateOf } from './current-state.ts';
import type { Journal } from './journal.ts';
import { shown } from './parse-path.ts';
import type { Place } from './place.ts';
import { revert } from './revert.ts';

export interface Undone {
  /** The paths that are as they were before, latest change first. */
  readonly restored: readonly string[];
}

/**
 * Takes back everything a call changed: first looks whether each place still is as the call left it, then restores
 * them, latest first. CONFLICT when later changes overlap; nothing is touched then.
 */
export async function undoCall(place: Place, journal: Journal, callId: string): Promise<Result<Undone>> {
  const sets = setsOf(place, journal, callId).reverse();
  if (sets.length === 0) {
    return journal.wasUndone(callId)
      ? fail('CONFLICT', `The changes of call ${callId} were undone already.`)
      : fail('FILE_NOT_FOUND', `The journal knows no changes of call ${callId} in this workspace.`);
  }
  const changes = sets.flatMap((set) => [...set.changes].reverse());
  // A path that the call changed twice is judged by its last change only: the earlier ones come right on the way.
  const judged = new Set<string>();
  for (const change of changes) {
    const overlap = overlapWith(place, change, judged);
    if (overlap !== undefined) return overlap;
    for (const path of pathsOf(change)) judged.add(path);
  }
  const restored: string[] = [];
  for (const set of sets) {
    for (const change of [...set.changes].reverse()) {
      const back = await revert(place, journal, change);
      if (!back.ok) return { ...back, error: { ...back.error, details: { ...back.error.details, restored } } };
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

function overlapWith(place: Place, change: Recorded, judged: ReadonlySet<string>): Result<never> | undefined {
  if (pathsOf(change).some((path) => judged.has(path))) return undefined;
  if (change.kind === 'write') {
    const { digest } = stateOf(place, change.path);
    return digest === change.after ? undefined : changed(change.path, digest === null ? 'is gone' : 'was changed');
  }
  if (change.kind === 'delete') {
    return stateOf(place, change.path).type === 'nothing' ? undefined : changed(change.path, 'was made anew');
  }
  const [from, to] = [stateOf(place, change.from), stateOf(place, change.to)];
  if (from.type !== 'nothing') return changed(change.from, 'was made anew');
  const same = to.inode === change.inode || (change.digest !== null && to.digest === change.digest);
  const copiedFolder = change.type !== 'file' && change.copied === true;
  if (to.type !== change.type || !(same || copiedFolder)) return changed(change.to, 'was changed');
  return change.digest === null || to.digest === change.digest ? undefined : changed(change.to, 'was changed');
}

function changed(path: string, how: string): Result<never> {
  const message = `${shown(path)} ${how} after that call, so undoing it would lose later work. Undo the later change first.`;
  return fail('CONFLICT', message, { path });
}

function pathsOf(change: Recorded): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}
