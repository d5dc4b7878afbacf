import { type ReactNode, useLayoutEffect, useState } from 'react';
import type { ApprovalDetail } from '../../src/protocol/approvals.ts';
import type { ChangesBlock } from '../../src/protocol/preview.ts';
import { api, messageOf } from '../api/api.ts';
import { useArmed } from '../approvals/use-armed.ts';
import { useSeenEnd } from '../approvals/use-seen-end.ts';
import { DialogBody } from '../show/dialog.tsx';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { forgetApproval } from '../state/server-state.ts';
import { useServerWords, useWords } from '../words/words.ts';
import { ChangesList } from './changes-list.tsx';
import { ALL_TICKED, isKept, isPartial, toSelection } from './changes-selection.ts';

/** Asks whether the changes of a command are kept: all of them, the ticked part, or none. */
export function ChangesQuestion({
  approval,
  changes,
  onAnswering,
  onWritten,
  onAnswered,
}: {
  approval: ApprovalDetail;
  changes: ChangesBlock;
  onAnswering: (answering: boolean) => void;
  onWritten: (written: boolean) => void;
  onAnswered: () => void;
}): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const armed = useArmed(approval.digest);
  const [isSeen, setSeen] = useState(false);
  const [ticks, setTicks] = useState(ALL_TICKED);
  const [words, setWords] = useState('');
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const end = useSeenEnd(approval.digest, () => setSeen(true));
  const { stage = '' } = approval.args as { stage?: string };
  const { title, items, repository, total, truncated } = changes;
  const isWritten = words.trim() !== '' || isPartial(ticks, items);
  // A layout effect runs before the next key, so the dialog knows of unsaved ticks when Escape comes.
  useLayoutEffect(() => onWritten(isWritten), [isWritten, onWritten]);

  async function answer(work: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    onAnswering(true);
    setTrouble(null);
    try {
      await work();
      forgetApproval(approval.id);
      onAnswered();
    } catch (error) {
      // It stays in view also when the answer counted and the changes could not be kept.
      setTrouble(messageOf(error));
      setBusy(false);
    }
  }
  const keepAll = () => answer(() => api('keepChanges', { at: { id: stage }, body: {} }));
  const keepSelected = () => answer(() => api('keepChanges', { at: { id: stage }, body: toSelection(ticks, items) }));
  const discard = () =>
    answer(() => api('discardChanges', { at: { id: stage }, body: words.trim() === '' ? {} : { message: words } }));
  const isReady = armed && !busy && isSeen;
  const hasPart = isPartial(ticks, items) && items.some((item) => isKept(ticks, item));
  return (
    <>
      <DialogBody>
        <div className="flex flex-col gap-4">
          <section aria-label={say('headingCommand')}>
            <h3 className="mb-1 font-semibold text-sm">{say('headingCommand')}</h3>
            <pre className="code rounded bg-raised p-2">
              <VisibleText text={title} />
            </pre>
          </section>
          <section aria-label={say('pendingChanges')}>
            <h3 className="mb-1 font-semibold text-sm">{say('pendingChanges')}</h3>
            <div
              // biome-ignore lint/a11y/noNoninteractiveTabindex: from here the keys scroll the dialog
              tabIndex={0}
              className="approval-details flex flex-col gap-3 rounded-lg border border-line bg-page p-3"
            >
              <ChangesList items={items} repository={repository} choice={{ stage, ticks, onTicks: setTicks }} />
              {truncated && (
                <p className="text-sm text-warn">
                  {say('changesMore', { count: total - items.filter(({ inside }) => inside === undefined).length })}
                </p>
              )}
              <div ref={end} className="h-px" />
            </div>
          </section>
          <section aria-label={say('headingReason')}>
            <h3 className="mb-1 font-semibold text-sm">{say('headingReason')}</h3>
            <p className="[overflow-wrap:anywhere]">
              <VisibleText text={told(approval.reason)} />
            </p>
          </section>
          <label>
            <span className="text-sm">{say('discardReason')}</span>
            <textarea className="field" rows={1} value={words} onChange={({ target }) => setWords(target.value)} />
          </label>
        </div>
      </DialogBody>
      <div className="flex flex-wrap gap-2 border-line border-t px-4 py-3">
        <div className="w-full empty:hidden">
          <Trouble text={trouble} />
          {!isSeen && <p className="text-sm text-warn">{say('scrollToEndChanges')}</p>}
        </div>
        <button type="button" className="button danger" disabled={!armed || busy} onClick={() => void discard()}>
          {say('discardChanges')}
        </button>
        <button
          type="button"
          className="button ml-auto"
          disabled={!isReady || !hasPart}
          onClick={() => void keepSelected()}
        >
          {say('keepSelected')}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={!isReady || isPartial(ticks, items)}
          onClick={() => void keepAll()}
        >
          {say('keepAll')}
        </button>
      </div>
    </>
  );
}
