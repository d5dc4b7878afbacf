import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { sessionName } from '../show/format.ts';
import { VisibleText } from '../show/visible-text.tsx';
import { callChanges, sessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { findPending, PendingDecision, type PendingView } from './pending-decision.tsx';

/** All that a session has collected, or has pending since it ended: read and decided about here. */
export function CollectedChanges({ session }: { session: string }): ReactNode {
  const say = useWords();
  const changes = useStore(callChanges);
  const [pending, setPending] = useState<PendingView | null>(null);
  const [open, setOpen] = useState(false);
  const known = useStore(sessions);
  const collects = known.find(({ id }) => id === session)?.collects ?? false;
  const deciding = useRef(false);
  const load = useCallback(async () => {
    // Changes that are being decided about are loaded again when that is done.
    if (deciding.current) return;
    const found = await findPending(
      (each) => each.session === session && each.ofSession && each.approvalId === null,
    ).catch(() => null);
    setPending(found);
  }, [session]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is loaded again when a call ends or collecting begins or ends
  useEffect(() => void load(), [load, changes, collects]);
  if (pending === null) return null;
  const { created = 0, modified = 0, deleted = 0, mode = 0 } = pending.kinds;
  const facts = [
    modified + mode > 0 ? say('countChanged', { count: modified + mode }) : '',
    created > 0 ? say('countNew', { count: created }) : '',
    deleted > 0 ? say('countDeleted', { count: deleted }) : '',
  ].filter(Boolean);
  const { onto } = pending;
  const parent = onto === null ? undefined : (known.find(({ id }) => id === onto) ?? { id: onto, title: null });
  const Arrow = open ? ChevronDown : ChevronRight;
  return (
    <section aria-label={say('collectedChanges')} className="border-line border-t bg-panel px-3 py-1.5">
      <button
        type="button"
        className="button plain w-full justify-start"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Arrow size={16} aria-hidden />
        <span className="font-semibold">{say(pending.collecting ? 'collectedChanges' : 'pendingChanges')}</span>
        <span className="text-soft">{facts.join(', ')}</span>
      </button>
      {parent !== undefined && (
        <p className="px-3 text-soft text-sm [overflow-wrap:anywhere]">
          <VisibleText text={say('keptOnto', { session: sessionName(parent, say) })} />
        </p>
      )}
      {open && (
        <div className="max-h-[50vh] overflow-y-auto py-2">
          <PendingDecision
            key={pending.id}
            pending={pending}
            onProgress={(progress) => {
              deciding.current = progress === 'deciding';
              // Also after a failure: the session may have changed more.
              if (progress !== 'deciding') void load();
            }}
          />
        </div>
      )}
    </section>
  );
}
