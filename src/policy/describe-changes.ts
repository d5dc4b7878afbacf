import type { ClassifiedChange } from '../kernel/world/stage.ts';

/** Says in one sentence how many files were changed, deleted and added: "It changes 3 files, deletes 1 and adds 12." */
export function describeChanges(changes: readonly ClassifiedChange[]): string {
  let [changed, deleted, added] = [0, 0, 0];
  for (const { kind, entries = 0, after } of changes) {
    if (kind === 'deleted') deleted += Math.max(1, entries);
    else if (kind !== 'created') changed++;
    else if (after?.type !== 'directory') added++;
  }
  const counted = [
    ['changes', changed],
    ['deletes', deleted],
    ['adds', added],
  ] as const;
  const present = counted.filter(([, count]) => count > 0);
  if (present.length === 0) return changes.length === 0 ? 'It changes nothing.' : 'It adds empty folders.';
  const parts = present.map(
    ([verb, count], at) => `${verb} ${count.toLocaleString('en')}${at === 0 ? noun(count) : ''}`,
  );
  const last = parts.pop();
  return `It ${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`}.`;
}

function noun(count: number): string {
  return count === 1 ? ' file' : ' files';
}
