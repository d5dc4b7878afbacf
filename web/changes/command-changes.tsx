import { type ReactNode, useEffect, useState } from 'react';
import type { KeptChangesView } from '../../src/protocol/changes.ts';
import type { ViewBlock } from '../../src/protocol/view.ts';
import { api } from '../api/api.ts';
import { ViewBlocks } from '../show/view-blocks.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import type { CallItem } from '../state/feed.ts';
import { type Translate, useServerWords, useWords } from '../words/words.ts';
import { findPending, PendingDecision, type PendingView } from './pending-decision.tsx';

const STATES = {
  kept: 'stateKept',
  'partly kept': 'statePartlyKept',
  collected: 'stateCollected',
  discarded: 'stateDiscarded',
  'nothing changed': 'stateKept',
} as const;

/** "3 changed, 12 new" and "kept", for the line of a command. */
export function keptFacts({ state, counts }: KeptChangesView, say: Translate): string[] {
  const { created, modified, deleted, repository } = counts;
  const facts = [
    modified > 0 ? say('countChanged', { count: modified }) : '',
    created > 0 ? say('countNew', { count: created }) : '',
    deleted > 0 ? say('countDeleted', { count: deleted }) : '',
    repository > 0 ? say('countRepository') : '',
  ];
  return [facts.filter(Boolean).join(', '), say(STATES[state])];
}

/** The changes of a command that has ended: diffs of changed texts as they were kept, then the other files it left. */
export function CommandChanges({ call, kept }: { call: CallItem; kept: KeptChangesView }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const diffs = useKeptDiffs(kept.state === 'discarded' ? null : (call.keeping?.callId ?? null));
  const shown = new Set(diffs.flatMap((block) => (block.kind === 'files' ? block.paths : [])));
  const changed = kept.modified.filter((path) => !shown.has(path));
  return (
    <div className="flex flex-col gap-2">
      {kept.reason !== null && (
        <p className="text-sm text-warn [overflow-wrap:anywhere]">
          <VisibleText text={told(kept.reason)} />
        </p>
      )}
      <ViewBlocks blocks={diffs} />
      {changed.length > 0 && (
        <Paths title={say('changesChanged')}>
          <ViewBlocks blocks={[{ kind: 'files', paths: changed }]} />
        </Paths>
      )}
      {kept.created.length > 0 && (
        <Paths title={say('changesNew')}>
          <ViewBlocks blocks={[{ kind: 'files', paths: kept.created }]} />
        </Paths>
      )}
      {kept.deleted.length > 0 && (
        <Paths title={say('changesDeleted')}>
          <code className="code">
            <VisibleText text={kept.deleted.join('  ')} />
          </code>
        </Paths>
      )}
      {kept.state === 'discarded' && <LeftOver callId={call.id} />}
    </div>
  );
}

function Paths({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 text-sm">
      <span className="text-soft">{title}</span>
      {children}
    </div>
  );
}

/** The view of the call that kept the changes. */
function useKeptDiffs(callId: string | null): readonly ViewBlock[] {
  const [blocks, setBlocks] = useState<readonly ViewBlock[]>([]);
  useEffect(() => {
    if (callId === null) return;
    let current = true;
    api('getCall', { at: { id: callId } }).then(
      ({ view }) => current && setBlocks(view ?? []),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [callId]);
  return blocks;
}

/** Changes that could not be kept, such as after a conflict: a person can still keep a part of them. */
function LeftOver({ callId }: { callId: string }): ReactNode {
  const say = useWords();
  const [left, setLeft] = useState<PendingView | null>(null);
  useEffect(() => {
    let current = true;
    void findPending((each) => each.callId === callId && each.approvalId === null).then(
      (found) => current && setLeft(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [callId]);
  if (left === null) return null;
  return (
    <section aria-label={say('pendingChanges')} className="rounded-lg border border-warn p-2">
      <p className="mb-1 text-sm text-warn">{say('changesLeft')}</p>
      <PendingDecision pending={left} onDecided={() => setLeft(null)} />
    </section>
  );
}
