import { type ReactNode, useEffect, useState } from 'react';
import { visibleName } from '../../src/kernel/text/visible.ts';
import type { KeptChangesView } from '../../src/protocol/changes.ts';
import type { ChangeItem } from '../../src/protocol/preview.ts';
import type { ViewBlock } from '../../src/protocol/view.ts';
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

/**
 * The changes of a command that has ended: what is protected and what was deleted, diffs of changed texts as they were kept or
 * would have been, then the other files.
 */
export function CommandChanges({ call, kept }: { call: CallItem; kept: KeptChangesView }): ReactNode {
  const say = useWords();
  const told = useServerWords();
  const keptDiffs = useKeptDiffs(kept.state === 'discarded' ? null : (call.keeping?.callId ?? null));
  const diffs = kept.state === 'discarded' ? diffsNotKept(kept) : keptDiffs;
  const shown = new Set(diffs.flatMap((block) => (block.kind === 'files' ? block.paths : [])));
  const changed = kept.modified.filter((path) => !shown.has(path));
  return (
    <div className="flex flex-col gap-2">
      {kept.reason !== null && (
        <p className="text-sm text-warn [overflow-wrap:anywhere]">
          <VisibleText text={told(kept.reason)} />
        </p>
      )}
      {kept.state === 'discarded' && kept.total === 0 && hasLists(kept) && (
        <p className="text-sm text-soft">{say('changesWouldHave')}</p>
      )}
      <Groups title={say('changesProtected')} groups={kept.protected} />
      <Groups title={say('changesDeleted')} groups={kept.deleted} />
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

/** Paths that are told completely: each, or a folder that stands for several. */
function Groups({ title, groups }: { title: string; groups: KeptChangesView['deleted'] }): ReactNode {
  const say = useWords();
  if (groups.length === 0) return null;
  const count = (entries: number) => say(entries === 1 ? 'changeEntry' : 'changeEntries', { count: entries });
  return (
    <Paths title={title}>
      <ul className="flex min-w-0 flex-wrap gap-x-3">
        {groups.map(({ path, entries, inside }) => (
          <li key={path}>
            <code className="code">
              <VisibleText text={(entries ?? inside) === undefined ? visibleName(path) : `${visibleName(path)}/`} />
            </code>
            {entries !== undefined && ` (${count(entries)})`}
            {inside !== undefined && ` (${say('changesInside', { count: inside })})`}
          </li>
        ))}
      </ul>
    </Paths>
  );
}

function hasLists({ created, modified, deleted }: KeptChangesView): boolean {
  return created.length + modified.length + deleted.length > 0;
}

function diffsNotKept({ notKept = [] }: KeptChangesView): readonly ViewBlock[] {
  return notKept.flatMap(({ path, text }) => [
    { kind: 'files' as const, paths: [path] },
    { kind: 'diff' as const, text },
  ]);
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
