import { type ReactNode, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import type { ApiAnswer } from '../api/operations.ts';
import { Trouble } from '../show/trouble.tsx';
import { useWords } from '../words/words.ts';
import { ChangesList } from './changes-list.tsx';
import { ALL_TICKED, type ChangesTicks, isKept, isPartial, toSelection } from './changes-selection.ts';

/** Pending changes with their diffs. */
export type PendingView = ApiAnswer<'getChanges'>;
type PendingSummary = ApiAnswer<'listChanges'>['items'][number];

/** Loads the first pending changes that fit; null when there are none. */
export async function findPending(fits: (changes: PendingSummary) => boolean): Promise<PendingView | null> {
  const { items } = await api('listChanges');
  const found = items.find(fits);
  return found === undefined ? null : api('getChanges', { at: { id: found.id }, query: { form: 'diffs' } });
}

/** The ticked changes, with buttons that keep or discard them. */
export function PendingDecision({
  pending,
  onProgress,
}: {
  pending: PendingView;
  onProgress: (progress: 'deciding' | 'decided' | 'failed') => void;
}): ReactNode {
  const say = useWords();
  const [ticks, setTicks] = useState(ALL_TICKED);
  // Ticks belong to the list that they were made on: it stays in view, and an answer counts for that list alone.
  const [ticked, setTicked] = useState<PendingView | null>(null);
  const shown = ticked ?? pending;
  const [trouble, setTrouble] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { id, digest, items, repository, overtaken, total, truncated } = shown;
  const decide = async (work: () => Promise<unknown>) => {
    setBusy(true);
    onProgress('deciding');
    setTrouble(null);
    const failed = await work().then(
      () => null,
      (error) => messageOf(error),
    );
    setBusy(false);
    setTicked(null);
    setTicks(ALL_TICKED);
    setTrouble(failed);
    onProgress(failed === null ? 'decided' : 'failed');
  };
  const choose = (change: (now: ChangesTicks) => ChangesTicks) => {
    setTicked(shown);
    setTicks(change);
  };
  const keep = () => decide(() => api('keepChanges', { at: { id }, body: selectionOf(ticks, shown) }));
  const discard = () => decide(() => api('discardChanges', { at: { id }, body: { digest } }));
  return (
    <>
      {overtaken !== null && (
        <p className="mb-1 text-sm text-warn [overflow-wrap:anywhere]">
          {say('changesOvertaken', { paths: overtaken.paths.join(', ') })}
        </p>
      )}
      <ChangesList items={items} repository={repository} choice={{ stage: id, ticks, onTicks: choose }} />
      {truncated && <p className="text-sm text-warn">{say('changesMore', { count: total - items.length })}</p>}
      <Trouble text={trouble} />
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button danger" disabled={busy} onClick={() => void discard()}>
          {say('discardChanges')}
        </button>
        <button
          type="button"
          className="button"
          disabled={busy || !items.some((item) => isKept(ticks, item))}
          onClick={() => void keep()}
        >
          {say(isPartial(ticks, items) ? 'keepSelected' : 'keepAll')}
        </button>
      </div>
    </>
  );
}

/** Everything, also what is not in the list, unless something is left out. */
function selectionOf(ticks: ChangesTicks, { digest, items }: PendingView) {
  return { ...(isPartial(ticks, items) && toSelection(ticks, items)), digest };
}
