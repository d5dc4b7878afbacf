import { SendHorizontal, Square } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { api, messageOf } from '../api/api.ts';
import { go } from '../shell/route.ts';
import { isComposing } from '../show/input-method.ts';
import { Trouble } from '../show/trouble.tsx';
import { health, loadSessions, openSession, sessions, tools } from '../state/server-state.ts';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { composerText, openTool } from './drafts.ts';
import { findTools } from './find-tools.ts';
import { outbox } from './send-messages.ts';
import { SendQueue } from './send-queue.tsx';
import { ToolForm } from './tool-form.tsx';
import { ToolPicker } from './tool-picker.tsx';

/** The input box: a task for the agent, or `/` and the name of a tool to call directly. */
export function Composer({ session }: { session: string | null }): ReactNode {
  const say = useWords();
  const text = useStore(composerText);
  const manual = useStore(health)?.model === null;
  const running = useStore(sessions).find(({ id }) => id === session)?.running ?? false;
  const tool = useStore(openTool);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [picked, setPicked] = useState<string | undefined>();
  const box = useRef<HTMLTextAreaElement>(null);
  const known = useStore(tools);
  const found = findTools(text, known);
  // Until the tools have loaded, a text that begins with `/` may name one, so it is not sent to the model.
  const mayNameTool = text.startsWith('/') && known.length === 0;
  const isMessage = text.trim() !== '' && found.length === 0 && !mayNameTool;

  async function send(): Promise<void> {
    const message = text.trim();
    if (!isMessage) return;
    composerText.set('');
    setTrouble(null);
    try {
      outbox.add(await sessionFor(session), message);
    } catch (error) {
      composerText.set((now) => (now === '' ? message : `${message}\n${now}`));
      setTrouble(messageOf(error));
    }
  }

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a word, Enter chooses it.
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    void send();
  };
  const picking = found.length > 0 && tool === null;
  return (
    <div className="border-line border-t bg-panel p-2">
      <div className="relative mx-auto max-w-4xl">
        <Trouble text={trouble} />
        {session !== null && <SendQueue session={session} />}
        {tool !== null && (
          <ToolForm
            tool={tool}
            session={() => sessionFor(session)}
            onClose={() => {
              openTool.set((now) => (now === tool ? null : now));
              box.current?.focus();
            }}
          />
        )}
        {picking && (
          <ToolPicker
            found={found}
            box={box}
            onMove={setPicked}
            onChoose={(chosen) => {
              composerText.set('');
              openTool.set(chosen);
            }}
          />
        )}
        <div className="flex items-end gap-2">
          <textarea
            id="composer"
            ref={box}
            aria-activedescendant={picked}
            aria-label={say(manual ? 'composerManual' : 'composerPlaceholder')}
            placeholder={say(manual ? 'composerManual' : 'composerPlaceholder')}
            rows={Math.min(8, text.split('\n').length)}
            className="field min-h-11 resize-none"
            value={text}
            onChange={({ target }) => composerText.set(target.value)}
            onKeyDown={picking ? undefined : onKeyDown}
          />
          {running && session !== null && (
            <button
              type="button"
              className="button danger min-h-11"
              onClick={() => void api('stopSession', { at: { id: session } }).catch((e) => setTrouble(messageOf(e)))}
            >
              <Square size={16} aria-hidden />
              {say('stop')}
            </button>
          )}
          <button type="button" className="button primary min-h-11" disabled={!isMessage} onClick={() => void send()}>
            <SendHorizontal size={16} aria-hidden />
            {say(running ? 'sendLater' : 'send')}
          </button>
        </div>
      </div>
    </div>
  );
}

/** Returns the open session, or creates one. */
async function sessionFor(session: string | null): Promise<string> {
  if (session !== null) return session;
  const { id } = await api('createSession', { body: {} });
  await loadSessions();
  await openSession(id);
  go('chat', id);
  return id;
}
