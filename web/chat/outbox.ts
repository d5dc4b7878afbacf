import { messageOf } from '../api/api.ts';
import { createStore, type Store } from '../state/store.ts';

export interface OutgoingMessage {
  readonly text: string;
  readonly state: 'waiting' | 'sending' | 'refused';
  /** Why the server refused the message. */
  readonly problem: string | null;
  /** The last sequence number of the session when the message was first sent; null until then. */
  readonly since: number | null;
}

/** Unsent messages, by session. They outlive the screen they were typed on. */
export interface Outbox {
  readonly messages: Store<ReadonlyMap<string, readonly OutgoingMessage[]>>;
  /** Sends at once when the agent is idle, else when it is done. */
  add(session: string, text: string): void;
  remove(session: string, message: OutgoingMessage): void;
  tryAgain(session: string, message: OutgoingMessage): void;
  /** Sends queued messages of sessions whose agent is done. */
  sendWaiting(): void;
  /** Removes messages that count as refused although the server received them. */
  dropReceived(isTaken: (session: string, text: string, since: number) => boolean): void;
}

interface MessageTransport {
  isBusy(session: string): boolean;
  /** Resolves to null when the server accepted the message, else to the reason. */
  send(session: string, text: string): Promise<string | null>;
  /** The last known sequence number of a session. */
  lastSeqOf(session: string): number;
  /** Whether the session recorded the message after `since`. Rejects when that cannot be known now. */
  wasReceived(session: string, text: string, since: number): Promise<boolean>;
}

/**
 * Sends the messages of each session in order. A message leaves the queue only when the server accepted it or a person
 * removes it. A response may get lost, so a message that seems to have failed is looked up in the record.
 */
export function createOutbox({ isBusy, send, lastSeqOf: standOf, wasReceived: wasTaken }: MessageTransport): Outbox {
  const messages = createStore<ReadonlyMap<string, readonly OutgoingMessage[]>>(new Map());
  const of = (session: string) => messages.get().get(session) ?? [];
  const put = (session: string, list: readonly OutgoingMessage[]) =>
    messages.set((now) => new Map(now).set(session, list));
  const replace = (session: string, message: OutgoingMessage, ...by: readonly OutgoingMessage[]) =>
    put(
      session,
      of(session).flatMap((one) => (one === message ? by : [one])),
    );

  async function sendNext(session: string): Promise<void> {
    const [next] = of(session);
    if (next?.state !== 'waiting' || isBusy(session)) return;
    const since = next.since ?? standOf(session);
    const going: OutgoingMessage = { ...next, state: 'sending', since };
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
    dropReceived(isTaken) {
      for (const [session, [first]] of messages.get()) {
        if (first?.state !== 'refused' || first.since === null || !isTaken(session, first.text, first.since)) continue;
        replace(session, first);
        void sendNext(session);
      }
    },
  };
}
