import { createStore, type Store } from '../state/store.ts';

export interface Outgoing {
  readonly text: string;
  readonly state: 'waiting' | 'sending' | 'refused';
  /** Why the server did not take it. */
  readonly problem: string | null;
}

/** Messages on their way, by session. They outlive the screen they were written on. */
export interface Outbox {
  readonly messages: Store<ReadonlyMap<string, readonly Outgoing[]>>;
  /** Sent at once where the agent is free, else when it is done. */
  add(session: string, text: string): void;
  remove(session: string, message: Outgoing): void;
  tryAgain(session: string, message: Outgoing): void;
  /** An agent may be done: what waits for it goes out. */
  sendWaiting(): void;
}

interface Way {
  isBusy(session: string): boolean;
  /** Null when the server took it, else why not. */
  send(session: string, text: string): Promise<string | null>;
}

/** One after the other in each session. A message leaves its place only when the server took it, or a person removes it. */
export function createOutbox({ isBusy, send }: Way): Outbox {
  const messages = createStore<ReadonlyMap<string, readonly Outgoing[]>>(new Map());
  const of = (session: string) => messages.get().get(session) ?? [];
  const put = (session: string, list: readonly Outgoing[]) => messages.set((now) => new Map(now).set(session, list));
  const replace = (session: string, message: Outgoing, ...by: readonly Outgoing[]) =>
    put(
      session,
      of(session).flatMap((one) => (one === message ? by : [one])),
    );

  async function sendNext(session: string): Promise<void> {
    const [next] = of(session);
    if (next?.state !== 'waiting' || isBusy(session)) return;
    const going: Outgoing = { ...next, state: 'sending' };
    replace(session, next, going);
    const problem = await send(session, going.text);
    if (problem !== null) return replace(session, going, { ...going, state: 'refused', problem });
    replace(session, going);
    return sendNext(session);
  }

  return {
    messages,
    add(session, text) {
      put(session, [...of(session), { text, state: 'waiting', problem: null }]);
      void sendNext(session);
    },
    remove(session, message) {
      replace(session, message);
      void sendNext(session);
    },
    tryAgain(session, message) {
      replace(session, message, { text: message.text, state: 'waiting', problem: null });
      void sendNext(session);
    },
    sendWaiting() {
      for (const session of messages.get().keys()) void sendNext(session);
    },
  };
}
