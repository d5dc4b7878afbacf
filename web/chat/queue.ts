import { ApiProblem, api, messageOf } from '../api/api.ts';
import { loadSessions, sessions } from '../state/live.ts';
import { createStore } from '../state/store.ts';
import { composerText } from './composer-text.ts';

/** Messages for a session whose agent is at work, by session. They outlive the screen they were written on. */
export const queued = createStore<ReadonlyMap<string, readonly string[]>>(new Map());
/** Why a queued message could not be sent; its text is in the composer again. */
export const notSent = createStore<string | null>(null);

export function enqueue(session: string, message: string): void {
  queued.set((now) => new Map(now).set(session, [...(now.get(session) ?? []), message]));
}

export function dequeue(session: string, index: number): void {
  queued.set((now) => new Map(now).set(session, (now.get(session) ?? []).toSpliced(index, 1)));
}

/** The end of a run is told a moment before the next may begin, so a message that waited for it is tried again. */
export async function deliver(session: string, message: string, tries = 1): Promise<void> {
  try {
    await api('sendMessage', { at: { id: session }, body: { text: message } });
    notSent.set(null);
    sessions.set((now) => now.map((one) => (one.id === session ? { ...one, running: true } : one)));
    void loadSessions();
  } catch (error) {
    if (tries > 1 && error instanceof ApiProblem && error.code === 'CONFLICT') {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return deliver(session, message, tries - 1);
    }
    notSent.set(messageOf(error));
    composerText.set((now) => (now === '' ? message : now));
  }
}

const sending = new Set<string>();
const TRIES = 20;

/** When an agent is done, the next message of its session goes out. */
sessions.subscribe(() => {
  for (const { id, running } of sessions.get()) {
    const [next] = queued.get().get(id) ?? [];
    if (running || next === undefined || sending.has(id)) continue;
    sending.add(id);
    dequeue(id, 0);
    void deliver(id, next, TRIES).finally(() => sending.delete(id));
  }
});
