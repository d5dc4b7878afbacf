import { useVirtualizer } from '@tanstack/react-virtual';
import { Plus } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../api/api.ts';
import { ApprovalDock } from '../approvals/approval-dock.tsx';
import { go } from '../shell/place.ts';
import { EMPTY_FEED } from '../state/feed.ts';
import { currentSession, feeds, loadSessions, sessions } from '../state/live.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { Composer } from './composer.tsx';
import { FirstRun } from './first-run.tsx';
import { Row } from './row.tsx';
import { rowsOf } from './rows-of.ts';

export function ChatScreen(): ReactNode {
  const current = useStore(currentSession);
  return (
    <div className="flex h-full flex-col">
      <SessionBar />
      <Feed key={current ?? ''} session={current} />
      <ApprovalDock />
      <Composer session={current} />
    </div>
  );
}

function SessionBar(): ReactNode {
  const say = useWords();
  const known = useStore(sessions);
  const current = useStore(currentSession);
  const create = async () => {
    const { id } = await api('createSession', { body: {} });
    await loadSessions();
    go('chat', id);
  };
  return (
    <div className="flex items-center gap-2 border-line border-b bg-panel px-3 py-1.5">
      <label className="min-w-0 flex-1">
        <span className="sr-only">{say('sessions')}</span>
        <select className="field max-w-md" value={current ?? ''} onChange={({ target }) => go('chat', target.value)}>
          {current === null && <option value="">{say('untitled')}</option>}
          {known.map(({ id, title }) => (
            <option key={id} value={id}>
              {title ?? `${say('untitled')} · ${id.slice(0, 8)}`}
            </option>
          ))}
        </select>
      </label>
      <button type="button" className="button" onClick={() => void create()}>
        <Plus size={16} aria-hidden />
        {say('newSession')}
      </button>
    </div>
  );
}

/** Only what is in sight is in the page, however long the session; it stays at the end until one scrolls up. */
function Feed({ session }: { session: string | null }): ReactNode {
  const say = useWords();
  const feed = useStore(feeds).get(session ?? '') ?? EMPTY_FEED;
  const rows = useMemo(() => rowsOf(feed), [feed]);
  const scroller = useRef<HTMLDivElement>(null);
  const [pinned, setPinned] = useState(true);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    overscan: 8,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const height = virtual.getTotalSize();
  useEffect(() => {
    if (pinned && height > 0) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [pinned, height]);
  if (rows.length === 0) return <FirstRun />;
  return (
    <div
      ref={scroller}
      role="log"
      aria-label={say('chat')}
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto px-3 py-3"
      onScroll={({ currentTarget: box }) => setPinned(box.scrollHeight - box.scrollTop - box.clientHeight < 80)}
    >
      <div className="relative mx-auto max-w-4xl" style={{ height }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0 pb-2"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row !== undefined && <Row row={row} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
