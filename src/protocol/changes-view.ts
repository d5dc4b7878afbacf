import type { Stage } from '../kernel/world/stage.ts';
import type { PendingChangesView } from './changes.ts';

/** Pending changes with the number of paths of each kind and class. */
export function pendingChangesView(stage: Stage, approvalId: string | null): PendingChangesView {
  const { id, callId, session, title, createdAt, isPartial, changes, standsOn, isCollecting = false } = stage;
  return {
    ...{ id, callId, session, title, createdAt, isPartial },
    digest: stage.digest,
    total: changes.length,
    kinds: countsOf(changes.map(({ kind }) => kind)),
    classes: countsOf(changes.map((change) => change.class)),
    approvalId,
    ofSession: stage.isOfSession === true,
    collecting: isCollecting,
    onto: standsOn,
    overtaken: stage.overtakenBy === undefined ? null : { ...stage.overtakenBy, paths: [...stage.overtakenBy.paths] },
  };
}

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
