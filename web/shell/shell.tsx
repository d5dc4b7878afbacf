import { type ReactNode, useEffect } from 'react';
import { token } from '../api/token.ts';
import { ApprovalDock } from '../approvals/approval-dock.tsx';
import { ChatScreen } from '../chat/chat-screen.tsx';
import { FilesScreen } from '../files/files-screen.tsx';
import { HistoryScreen } from '../history/history-screen.tsx';
import { currentSession, follow, openSession, sessions } from '../state/live.ts';
import { useStore } from '../state/store.ts';
import { ToolsScreen } from '../tools/tools-screen.tsx';
import { useWords } from '../words/words.ts';
import { Navigation } from './navigation.tsx';
import { place } from './place.ts';
import { TopBar } from './top-bar.tsx';

export function Shell(): ReactNode {
  const say = useWords();
  const { screen, id } = useStore(place);
  const known = useStore(sessions);
  useEffect(() => (token() === '' ? undefined : follow()), []);
  useEffect(() => {
    const wanted = screen === 'chat' && id !== null ? id : (currentSession.get() ?? known[0]?.id);
    if (wanted !== undefined) void openSession(wanted);
  }, [screen, id, known]);

  if (token() === '') return <p className="mx-auto mt-24 max-w-md p-6 text-center">{say('noToken')}</p>;
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
            {screen === 'chat' && <ChatScreen />}
            {screen === 'files' && <FilesScreen path={id} />}
            {screen === 'tools' && <ToolsScreen name={id} />}
            {screen === 'history' && <HistoryScreen callId={id} />}
          </div>
          {screen !== 'chat' && <ApprovalDock />}
        </main>
      </div>
    </div>
  );
}
