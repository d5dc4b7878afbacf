import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Trouble } from '../show/trouble.tsx';
import { useStore } from '../state/store.ts';
import { useWords } from '../words/words.ts';
import { outbox } from './send-messages.ts';

/** Queued messages and messages the server refused; each can be removed. */
export function SendQueue({ session }: { session: string }): ReactNode {
  const say = useWords();
  const messages = useStore(outbox.messages).get(session) ?? [];
  const kept = messages.filter(({ state }) => state !== 'sending');
  if (kept.length === 0) return null;
  const [refused] = kept.filter(({ state }) => state === 'refused');
  const queued = kept.length === 1 ? 'queuedOne' : 'queued';
  const title = say(refused === undefined ? queued : 'notSent', { count: kept.length });
  return (
    <section aria-label={title} className="mb-2 text-sm">
      <p className="text-soft">{title}</p>
      <Trouble text={refused?.problem ?? null} />
      <ul className="max-h-28 overflow-y-auto">
        {kept.map((message, index) => (
          <li key={index} className="flex items-center gap-2">
            <span className="min-w-0 flex-1 truncate">{message.text}</span>
            {message.state === 'refused' && (
              <button type="button" className="button" onClick={() => outbox.tryAgain(session, message)}>
                {say('retry')}
              </button>
            )}
            <button
              type="button"
              className="button plain"
              aria-label={`${say('removeItem')}: ${message.text.slice(0, 40)}`}
              onClick={() => outbox.remove(session, message)}
            >
              <X size={16} aria-hidden />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
