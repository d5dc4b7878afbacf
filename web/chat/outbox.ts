import { messageOf } from '../api/api.ts';
import { createStore, type Store } from '../state/store.ts';

export interface Outgoing {
  readonly text: string;
  readonly state: 'waiting' | 'sending' | 'refused';
  /** Why the server did not take it. */
  readonly problem: string | null;
  /** Where the record of its session stood when it was first sent; null until then. */
  readonly since: number | null;
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
  /** One that counts as not sent and was taken all the same needs no sending. */
  dropTaken(isTaken: (session: string, text: string, since: number) => boolean): void;
}

interface Way {
  isBusy(session: string): boolean;
  /** Null when the server took it, else why not. */
  send(session: string, text: string): Promise<string | null>;
  /** Where the record of a session stands, as far as it is known. */
  standOf(session: string): number;
  /** Whether it was said in the session after that. Rejects when that cannot be known now. */
  wasTaken(session: string, text: string, since: number): Promise<boolean>;
}

/**
 * One after the other in each session. A message leaves its place only when the server took it, or a person removes it.
 * An answer may be lost on its way, so what seems to have failed is looked for in the record.
 */
export function createOutbox({ isBusy, send, standOf, wasTaken }: Way): Outbox {
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
    const since = next.since ?? standOf(session);
    const going: Outgoing = { ...next, state: 'sending', since };
    replace(session, next, going);
    const isTaken = () => wasTaken(session, going.text, since);
    const problem = await (next.since === null ? sendOnce() : sendAgain()).catch(messageOf);
    if (problem !== null) return replace(session, going, { ...going, state: 'refused', problem });
    replace(session, going);
    return sendNext(session);

    async function sendOnce(): Promise<string | null> {
      const problem = await send(session, going.text);
      return problem !== null && (await isTaken().catch(() => false)) ? null : problem;
    }
    async function sendAgain(): Promise<string | null> {
      return (await isTaken()) ? null : sendOnce();
    }
  }

  return {
    messages,
    add(session, text) {
      put(session, [...of(session), { text, state: 'waiting', problem: null, since: null }]);
      void sendNext(session);
    },
    remove(session, message) {
      replace(session, message);
      void sendNext(session);
    },
    tryAgain(session, message) {
      replace(session, message, { ...message, state: 'waiting', problem: null });
      void sendNext(session);
    },
    sendWaiting() {
      for (const session of messages.get().keys()) void sendNext(session);
    },
    dropTaken(isTaken) {
      for (const [session, [first]] of messages.get()) {
        if (first?.state !== 'refused' || first.since === null || !isTaken(session, first.text, first.since)) continue;
        replace(session, first);
        void sendNext(session);
      }
    },
  };
}
