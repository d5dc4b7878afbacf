import { type ReactNode, useEffect, useState } from 'react';
import { oneLine } from '../../src/kernel/text/visible.ts';
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
              <VisibleText text={(entries ?? inside) === undefined ? oneLine(path) : `${oneLine(path)}/`} />
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
      <PendingDecision pending={left} onProgress={(progress) => progress === 'decided' && setLeft(null)} />
    </section>
  );
}
