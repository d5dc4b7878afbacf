import type { ClassifiedChange, Stage } from '../kernel/world/stage.ts';
import type { PendingChangesView } from './changes.ts';
import type { ChangeItem } from './preview.ts';

/** Pending changes with the number of paths of each kind and class. */
export function pendingChangesView(stage: Stage, approvalId: string | null): PendingChangesView {
  const { id, callId, session, title, createdAt, isPartial, changes } = stage;
  return {
    ...{ id, callId, session, title, createdAt, isPartial },
    total: changes.length,
    kinds: countsOf(changes.map(({ kind }) => kind)),
    classes: countsOf(changes.map((change) => change.class)),
    approvalId,
  };
}

export function changeItemView(change: ClassifiedChange): ChangeItem {
  const { path, kind, class: of, reason, loses, overtaken, before, after, entries, bytes } = change;
  const { type, size, version } = after ?? before ?? {};
  return {
    ...{ path, kind, class: of },
    ...(reason !== undefined && { reason }),
    ...(loses && { loses }),
    ...(overtaken && { overtaken }),
    ...(entries !== undefined && { entries }),
    ...(type === 'file' ? { bytes: size } : bytes !== undefined && { bytes }),
    ...(type === 'symlink' && { leadsTo: version ?? '' }),
  };
}

function countsOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
