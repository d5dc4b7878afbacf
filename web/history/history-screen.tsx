import { type ReactNode, useEffect, useState } from 'react';
import type { CallView } from '../../src/protocol/calls.ts';
import { exitCodeIn } from '../../src/protocol/command-value.ts';
import { api, messageOf } from '../api/api.ts';
import { go } from '../shell/route.ts';
import { formatDateTime, formatDayAndTime, formatDuration } from '../show/format.ts';
import { PhaseBadge } from '../show/phase-badge.tsx';
import { Trouble } from '../show/trouble.tsx';
import { VisibleText } from '../show/visible-text.tsx';
import { phaseOf } from '../state/feed.ts';
import { reloadOnChange } from '../state/reload-on-change.ts';
import { callChanges, tools } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import type { Words } from '../words/en.ts';
import { language as shownLanguage, useWords } from '../words/words.ts';
import { CallPage } from './call-page.tsx';

const STATES = {
  awaiting_approval: 'phaseWaiting',
  running: 'phaseRunning',
  succeeded: 'phaseDone',
  failed: 'phaseFailed',
  timed_out: 'stateTimedOut',
  denied: 'phaseDenied',
  expired: 'stateExpired',
  cancelled: 'phaseCancelled',
  interrupted: 'stateInterrupted',
} as const satisfies { [S in CallView['state']]?: keyof Words };

interface CallFilter {
  readonly tool: string;
  readonly state: string;
}

const PAGE = 100;
const MAX_PAGE = 500;
const PAUSE_MS = 500;

/** Every recorded call, newest first, kept up to date. */
export function HistoryScreen({ callId }: { callId: string | null }): ReactNode {
  const say = useWords();
  const [filter, setFilter] = useState<CallFilter>({ tool: '', state: '' });
  const [wanted, setWanted] = useState(PAGE);
  const [items, setItems] = useState<readonly CallView[] | null>(null);
  const [hasMore, setHasMore] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(
    () =>
      reloadOnChange(callChanges, {
        pauseMs: PAUSE_MS,
        load: () => loadCalls(filter, wanted),
        onLoaded(found) {
          setItems(found.items);
          setHasMore(found.hasMore);
          setTrouble(null);
        },
        onTrouble: (error) => setTrouble(messageOf(error)),
      }),
    [filter, wanted],
  );
  if (callId !== null) return <CallPage id={callId} />;
  return (
    <div className="h-full overflow-auto p-4">
      <h1 className="mb-2 font-semibold text-xl">{say('history')}</h1>
      <Filters filter={filter} onChange={setFilter} />
      <Trouble text={trouble} />
      {items?.length === 0 && <p className="text-soft">{say('noCalls')}</p>}
      {items !== null && items.length > 0 && <Calls items={items} />}
      {hasMore && (
        <button type="button" className="button mt-2" onClick={() => setWanted(wanted + PAGE)}>
          {say('loadMore')}
        </button>
      )}
    </div>
  );
}

async function loadCalls(
  filter: CallFilter,
  wanted: number,
): Promise<{ items: readonly CallView[]; hasMore: boolean }> {
  const items: CallView[] = [];
  let after: string | null | undefined;
  while (after !== null && items.length < wanted) {
    const limit = Math.min(MAX_PAGE, wanted - items.length);
    const page = await api('listHistory', { query: { ...filter, limit, ...(after !== undefined && { after }) } });
    items.push(...page.items);
    after = page.next;
  }
  return { items, hasMore: after != null };
}

function Filters({ filter, onChange }: { filter: CallFilter; onChange: (filter: CallFilter) => void }): ReactNode {
  const say = useWords();
  const names = useStore(tools).map(({ name }) => [name, name] as const);
  const states = Object.entries(STATES).map(([state, word]) => [state, say(word)] as const);
  const choice = (label: string, key: keyof CallFilter, options: readonly (readonly [string, string])[]) => (
    <label className="flex items-center gap-2">
      {label}
      <select
        className="field w-auto"
        value={filter[key]}
        onChange={({ target }) => onChange({ ...filter, [key]: target.value })}
      >
        <option value="">{say('all')}</option>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div className="mb-3 flex flex-wrap gap-4 text-sm">
      {choice(say('filterTool'), 'tool', names)}
      {choice(say('filterState'), 'state', states)}
    </div>
  );
}

function Calls({ items }: { items: readonly CallView[] }): ReactNode {
  const say = useWords();
  const language = useStore(shownLanguage);
  return (
    <table className="w-full text-left text-sm">
      <thead className="text-soft">
        <tr>
          <th className="py-1 pr-3">{say('time')}</th>
          <th className="pr-3">{say('toolName')}</th>
          <th className="hidden pr-3 md:table-cell">{say('arguments')}</th>
          <th className="pr-3">{say('outcome')}</th>
          <th className="text-right md:pr-3">{say('duration')}</th>
          <th className="hidden md:table-cell">{say('approver')}</th>
        </tr>
      </thead>
      <tbody>
        {items.map((call) => (
          <tr key={call.id} className="border-line border-t">
            <td className="py-1 pr-3 text-soft sm:whitespace-nowrap" title={formatDateTime(call.requestedAt, language)}>
              {formatDayAndTime(call.requestedAt, language)}
            </td>
            <td className="pr-3">
              <button
                type="button"
                className="min-h-8 font-mono text-accent underline"
                onClick={() => go('history', call.id)}
              >
                {call.tool}
              </button>
            </td>
            <td className="code hidden max-w-sm truncate pr-3 md:table-cell">
              <VisibleText text={JSON.stringify(call.args)} />
            </td>
            <td className="pr-3">
              <PhaseBadge phase={phaseOf(call)} exitCode={exitCodeIn(call.outcome?.value)} />
            </td>
            <td className="whitespace-nowrap text-right md:pr-3">
              {call.durationMs === null ? '–' : formatDuration(call.durationMs)}
            </td>
            <td className="hidden md:table-cell">{call.approvedBy ?? call.deniedBy ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
