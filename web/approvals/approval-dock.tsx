import { Hand } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ApprovalView } from '../../src/protocol/approvals.ts';
import { commandOfKeeping } from '../../src/protocol/command-of-keeping.ts';
import { api, messageOf } from '../api/api.ts';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { approvals, forgetApproval } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { ApprovalDialog } from './approval-dialog.tsx';
import { useArmed } from './use-armed.ts';

/**
 * Open approval requests, above the composer. The dock appears without taking the focus. Its buttons do nothing in the
 * first half second, and "Deny" does nothing in the half second after a request came or went: a click aimed at something
 * else decides nothing.
 */
export function ApprovalDock(): ReactNode {
  const say = useWords();
  const waiting = useStore(approvals);
  const [open, setOpen] = useState<string | null>(null);
  const dock = useRef<HTMLElement>(null);
  const closed = useRef<string | null>(null);
  const close = () => {
    closed.current = open;
    setOpen(null);
  };
  // When a closed request had the focus, the next request takes it, or else the composer.
  useEffect(() => {
    if (closed.current === null || open !== null || document.activeElement !== document.body) return;
    const here = waiting.find(({ id }) => id === closed.current);
    if (here === undefined) closed.current = null;
    const next = dock.current?.querySelector<HTMLElement>(`[data-approval="${here?.id ?? waiting[0]?.id}"] .primary`);
    (next ?? document.querySelector<HTMLElement>('#composer'))?.focus();
  }, [waiting, open]);
  const among = waiting.map(({ id }) => id).join();
  if (waiting.length === 0) return open !== null && <ApprovalDialog id={open} onClose={close} />;
  return (
    <section
      ref={dock}
      aria-label={say('approvals')}
      aria-live="polite"
      className="max-h-[45dvh] shrink-0 overflow-y-auto border-warn border-t-2 bg-warn-back px-3 py-2"
    >
      <p className="mx-auto mb-1.5 flex max-w-4xl items-center gap-2 font-semibold text-sm text-warn">
        <Hand size={16} aria-hidden />
        {say('approvalWaiting', { count: waiting.length })}
      </p>
      <ul className="mx-auto flex max-w-4xl flex-col gap-2">
        {waiting.map((approval) => (
          <li
            key={approval.id}
            data-approval={approval.id}
            className="flex flex-wrap items-center gap-2 rounded-lg bg-panel px-3 py-2"
          >
            {commandOfKeeping(approval) === undefined ? (
              <code className="font-mono text-sm">{approval.tool}</code>
            ) : (
              <span className="font-semibold text-sm">{say('pendingChanges')}</span>
            )}
            <span className="min-w-32 flex-1 truncate text-sm">
              <VisibleText text={approval.summary} />
            </span>
            <span className="ml-auto flex flex-wrap items-center gap-2">
              <QuickAnswer approval={approval} among={among} onOpen={() => setOpen(approval.id)} />
            </span>
          </li>
        ))}
      </ul>
      {open !== null && <ApprovalDialog id={open} onClose={close} />}
    </section>
  );
}

/** Denies at once. Allowing needs reading, so it leads to the dialog that shows the call in full. */
function QuickAnswer({
  approval,
  among,
  onOpen,
}: {
  approval: ApprovalView;
  /** The ids in the list: when they change, this row may have moved to the place of another. */
  among: string;
  onOpen: () => void;
}): ReactNode {
  const say = useWords();
  const armed = useArmed(approval.id);
  const still = useArmed(among);
  const [trouble, setTrouble] = useState<string | null>(null);
  const deny = () =>
    api('deny', { at: { id: approval.id }, body: {} }).then(
      () => forgetApproval(approval.id),
      (error) => setTrouble(messageOf(error)),
    );
  // `aria-disabled` instead of `disabled`, so that the button keeps the focus while it does nothing.
  return (
    <>
      <button type="button" className="button danger" aria-disabled={!still} onClick={() => still && void deny()}>
        {say(commandOfKeeping(approval) === undefined ? 'deny' : 'discardChanges')}
      </button>
      <button type="button" className="button primary" disabled={!armed} onClick={onOpen}>
        {say('open')}
      </button>
      <Trouble text={trouble} />
    </>
  );
}
