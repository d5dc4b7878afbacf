import { type ReactNode, useEffect, useState } from 'react';
import type { KeptChangesView } from '../../src/protocol/changes.ts';
import type { ChangeItem, ChangesBlock } from '../../src/protocol/preview.ts';
import { api, messageOf } from '../api/api.ts';
import { Trouble } from '../show/trouble.tsx';
import { ViewBlocks } from '../show/view-blocks.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import type { CallItem } from '../state/feed.ts';
import { type Translate, useServerWords, useWords } from '../words/words.ts';
import { ChangesList } from './changes-list.tsx';
import { ALL_TICKED, isKept, toSelection } from './changes-selection.ts';

const STATES = {
  kept: 'stateKept',
  'partly kept': 'statePartlyKept',
  discarded: 'stateDiscarded',
  'nothing changed': 'stateKept',
} as const;

/** "3 changed, 12 new" and "kept", for the line of a command. */
export function keptFacts({ state, created, modified, deleted }: KeptChangesView, say: Translate): string[] {
  const counts = [
    modified.length > 0 ? say('countChanged', { count: modified.length }) : '',
    created.length > 0 ? say('countNew', { count: created.length }) : '',
    deleted.length > 0 ? say('countDeleted', { count: deleted.length }) : '',
  ];
  return [counts.filter(Boolean).join(', '), say(STATES[state])];
}

/** The changes of a command that has ended: as they were shown in the question about them, or the files it left. */
export function CommandChanges({ call, kept }: { call: CallItem; kept: KeptChangesView }): ReactNode {
  const told = useServerWords();
  const block = useShownChanges(kept.state === 'discarded' ? null : (call.keeping?.approvalId ?? null));
  const paths = [...kept.modified, ...kept.created];
  return (
    <div className="flex flex-col gap-2">
      {kept.reason !== null && (
        <p className="text-sm text-warn [overflow-wrap:anywhere]">
          <VisibleText text={told(kept.reason)} />
        </p>
      )}
      {block !== null ? (
        <ChangesList items={block.items} repository={block.repository} />
      ) : (
        paths.length > 0 && <ViewBlocks blocks={[{ kind: 'files', paths }]} />
      )}
      {kept.state === 'discarded' && <LeftOver callId={call.id} />}
    </div>
  );
}

function useShownChanges(approvalId: string | null): ChangesBlock | null {
  const [block, setBlock] = useState<ChangesBlock | null>(null);
  useEffect(() => {
    if (approvalId === null) return;
    let current = true;
    api('getApproval', { at: { id: approvalId } }).then(
      ({ preview }) => current && setBlock(preview.find((each) => each.kind === 'changes') ?? null),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [approvalId]);
  return block;
}

interface LeftChanges {
  readonly id: string;
  readonly items: readonly ChangeItem[];
  readonly repository: readonly string[];
}

/** Changes that could not be kept, such as after a conflict: a person can still keep a part of them. */
function LeftOver({ callId }: { callId: string }): ReactNode {
  const say = useWords();
  const [left, setLeft] = useState<LeftChanges | null>(null);
  const [ticks, setTicks] = useState(ALL_TICKED);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    void findLeft(callId).then(
      (found) => current && setLeft(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [callId]);
  if (left === null) return null;
  const decide = async (work: () => Promise<unknown>) => {
    try {
      setTrouble(null);
      await work();
      setLeft(null);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  const at = { id: left.id };
  const keep = () => decide(() => api('keepChanges', { at, body: toSelection(ticks, left.items) }));
  const discard = () => decide(() => api('discardChanges', { at, body: {} }));
  return (
    <section aria-label={say('pendingChanges')} className="rounded-lg border border-warn p-2">
      <p className="mb-1 text-sm text-warn">{say('changesLeft')}</p>
      <ChangesList
        items={left.items}
        repository={left.repository}
        choice={{ stage: left.id, ticks, onTicks: setTicks }}
      />
      <Trouble text={trouble} />
      <div className="mt-2 flex flex-wrap gap-2">
        <button type="button" className="button danger" onClick={() => void discard()}>
          {say('discardChanges')}
        </button>
        <button
          type="button"
          className="button"
          disabled={!left.items.some((item) => isKept(ticks, item))}
          onClick={() => void keep()}
        >
          {say('keepSelected')}
        </button>
      </div>
    </section>
  );
}

async function findLeft(callId: string): Promise<LeftChanges | null> {
  const { items } = await api('listChanges');
  const found = items.find((each) => each.callId === callId && each.approvalId === null);
  if (found === undefined) return null;
  const page = await api('getChanges', { at: { id: found.id }, query: { limit: 500 } });
  return { id: found.id, items: page.items, repository: page.repository };
}
