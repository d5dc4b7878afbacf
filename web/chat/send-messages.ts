import { ApiProblem, api, messageOf } from '../api/api.ts';
import { askBeforeLeaving } from '../show/ask-before-leaving.ts';
import { feeds, loadSessions, sessions } from '../state/server-state.ts';
import { createOutbox } from './outbox.ts';

/** The outbox of the page, wired to the server. */
export const outbox = createOutbox({
  isBusy: (session) => sessions.get().find(({ id }) => id === session)?.running ?? false,
  send: (session, text) => send(session, text, TRIES),
  lastSeqOf(session) {
    const listed = sessions.get().find(({ id }) => id === session);
    return Math.max(feeds.get().get(session)?.seq ?? 0, listed?.lastSeq ?? 0);
  },
  async wasReceived(session, text, since) {
    if (isRecorded(session, text, since)) return true;
    const { items } = await api('listSessionEvents', { at: { id: session }, query: { after: since, limit: 1000 } });
    return items.some(({ type, data }) => type === 'message.added' && data.role === 'user' && data.text === text);
  },
});

askBeforeLeaving(() => [...outbox.messages.get().values()].some((left) => left.length > 0));
sessions.subscribe(outbox.sendWaiting);
feeds.subscribe(() => outbox.dropReceived(isRecorded));
// The record may show a message before the attempt to send it is given up.
outbox.messages.subscribe(() => outbox.dropReceived(isRecorded));

function isRecorded(session: string, text: string, since: number): boolean {
  const said = feeds.get().get(session)?.items ?? [];
  return said.some((item) => item.kind === 'message' && item.seq > since && item.role === 'user' && item.text === text);
}

const TRIES = 20;
const RETRY_MS = 250;

/** Retries on a conflict: the end of a run is announced a moment before the next run may begin. */
async function send(session: string, text: string, tries: number): Promise<string | null> {
  try {
    await api('sendMessage', { at: { id: session }, body: { text } });
    sessions.set((now) => now.map((one) => (one.id === session ? { ...one, running: true } : one)));
    void loadSessions().catch(() => undefined);
    return null;
  } catch (error) {
    const isEarly = error instanceof ApiProblem && error.code === 'CONFLICT';
    if (!isEarly || tries <= 1) return messageOf(error);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return send(session, text, tries - 1);
  }
}
