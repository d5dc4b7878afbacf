import { lazy, type ReactNode, useEffect } from 'react';
import { token } from '../api/token.ts';
import { ApprovalDock } from '../approvals/approval-dock.tsx';
import { ChatScreen } from '../chat/chat-screen.tsx';
import { tabs } from '../editor/open-tabs.ts';
import { LazyPart } from '../show/lazy-part.tsx';
import { connection, currentSession, followServer, health, openSession, sessions } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { Navigation } from './navigation.tsx';
import { route } from './route.ts';
import { TopBar } from './top-bar.tsx';

const FilesScreen = lazy(() => import('../files/files-screen.tsx').then((part) => ({ default: part.FilesScreen })));
const ToolsScreen = lazy(() => import('../tools/tools-screen.tsx').then((part) => ({ default: part.ToolsScreen })));
const HistoryScreen = lazy(() =>
  import('../history/history-screen.tsx').then((part) => ({ default: part.HistoryScreen })),
);

export function Shell(): ReactNode {
  const say = useWords();
  const { screen, id } = useStore(route);
  const known = useStore(sessions);
  const line = useStore(connection);
  const state = useStore(health);
  const hasTabs = useStore(tabs).length > 0;
  useEffect(() => (token() === '' ? undefined : followServer()), []);
  useEffect(() => {
    const wanted = screen === 'chat' && id !== null ? id : (currentSession.get() ?? known[0]?.id);
    if (wanted !== undefined) void openSession(wanted);
  }, [screen, id, known]);

  if (token() === '') return <Closed text={say('noToken')} />;
  // A page that was shown once stays: it may hold unsaved text.
  if ((line === 'refused' || line === 'limited') && state === null) return <Closed text={say(line)} />;
  return (
    <div className="flex h-full flex-col">
      <a href="#content" className="sr-only focus:not-sr-only">
        {say('skipToContent')}
      </a>
      <TopBar />
      <div className="flex min-h-0 flex-1 flex-col-reverse md:flex-row">
        <Navigation />
        <main id="content" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
          <div className="min-h-0 flex-1">
            {/* Kept while files are open: tabs hold unsaved text and their undo history. */}
            {(screen === 'files' || hasTabs) && (
              <div hidden={screen !== 'files'} className="h-full">
                <LazyPart>
                  <FilesScreen path={screen === 'files' ? id : null} shown={screen === 'files'} />
                </LazyPart>
              </div>
            )}
            <LazyPart key={screen}>
              {screen === 'chat' && <ChatScreen />}
              {screen === 'tools' && <ToolsScreen name={id} />}
              {screen === 'history' && <HistoryScreen callId={id} />}
            </LazyPart>
          </div>
          {screen !== 'chat' && <ApprovalDock />}
        </main>
      </div>
    </div>
  );
}

function Closed({ text }: { text: string }): ReactNode {
  return (
    <p role="alert" className="mx-auto mt-24 max-w-md p-6 text-center">
      {text}
    </p>
  );
}
