import { Plus } from 'lucide-react';
import { lazy, type ReactNode, useEffect, useMemo, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { ApprovalDock } from '../approvals/approval-dock.tsx';
import { CollectSwitch } from '../changes/collect-switch.tsx';
import { CollectedChanges } from '../changes/collected-changes.tsx';
import { go } from '../shell/route.ts';
import { sessionName } from '../show/format.ts';
import { LazyPart } from '../show/lazy-part.tsx';
import { Trouble } from '../show/trouble.tsx';
import { EMPTY_FEED } from '../state/feed.ts';
import { currentSession, feeds, loadSessions, sessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { Composer } from './composer.tsx';
import { FirstRun } from './first-run.tsx';
import { groupRows } from './group-rows.ts';

export function ChatScreen(): ReactNode {
  const current = useStore(currentSession);
  return (
    <div className="flex h-full flex-col">
      <SessionBar />
      <Feed key={current ?? ''} session={current} />
      <ApprovalDock />
      {current !== null && <CollectedChanges key={`changes of ${current}`} session={current} />}
      <Composer session={current} />
    </div>
  );
}

function SessionBar(): ReactNode {
  const say = useWords();
  const known = useStore(sessions);
  const current = useStore(currentSession);
  const session = known.find(({ id }) => id === current);
  const [trouble, setTrouble] = useState<string | null>(null);
  const create = async () => {
    setTrouble(null);
    try {
      const { id } = await api('createSession', { body: {} });
      await loadSessions();
      go('chat', id);
    } catch (error) {
      setTrouble(messageOf(error));
    }
  };
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-b bg-panel px-3 py-1.5">
      <label className="min-w-28 flex-1">
        <span className="sr-only">{say('sessions')}</span>
        <select className="field max-w-md" value={current ?? ''} onChange={({ target }) => go('chat', target.value)}>
          {session === undefined && (
            <option value={current ?? ''}>
              {say('untitled')}
              {current !== null && ` · ${current.slice(0, 8)}`}
            </option>
          )}
          {known.map((each) => (
            <option key={each.id} value={each.id}>
              {sessionName(each, say)}
            </option>
          ))}
        </select>
      </label>
      {session !== undefined && <CollectSwitch key={session.id} session={session} />}
      <button type="button" className="button" onClick={() => void create()}>
        <Plus size={16} aria-hidden />
        {say('newSession')}
      </button>
      <div className="w-full empty:hidden">
        <Trouble text={trouble} />
      </div>
    </div>
  );
}

/** The list of messages and calls is a large chunk, loaded when there is something to show. */
const loadFeedList = () => import('./feed-list.tsx').then(({ FeedList }) => ({ default: FeedList }));
const FeedList = lazy(loadFeedList);

function Feed({ session }: { session: string | null }): ReactNode {
  const say = useWords();
  const feed = useStore(feeds).get(session ?? '') ?? EMPTY_FEED;
  const rows = useMemo(() => groupRows(feed), [feed]);
  useEffect(() => whenIdle(() => void loadFeedList().catch(() => undefined)), []);
  if (rows.length === 0) return <FirstRun />;
  return (
    <>
      <h1 className="sr-only">{say('chat')}</h1>
      <LazyPart meanwhile={<div className="flex-1" />}>
        <FeedList rows={rows} />
      </LazyPart>
    </>
  );
}

/** Runs work that is needed soon when the browser is idle. Returns a function that cancels it. */
function whenIdle(work: () => void): () => void {
  const id = requestIdleCallback(work, { timeout: 2000 });
  return () => cancelIdleCallback(id);
}
