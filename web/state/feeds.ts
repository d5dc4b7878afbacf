import type { RecordedEvent, StreamEvent } from '../../src/protocol/events.ts';
import { applyEvent, EMPTY_FEED, type Feed } from './feed.ts';
import { createStore, type Store } from './store.ts';

interface EventPage {
  readonly events: readonly RecordedEvent[];
  readonly isLast: boolean;
}

/** The sessions that were opened, by id. */
export interface Feeds {
  readonly all: Store<ReadonlyMap<string, Feed>>;
  /** Reads a session to its end, from the last event known, or after `from` when none is. */
  read(session: string, from?: number): Promise<void>;
  /** Applies live events. When a session misses earlier events, it is read from the record instead. */
  apply(events: readonly StreamEvent[]): void;
  /** Call after a lost connection: streamed text is not sent again, and the next may belong to another answer. */
  dropStreaming(): void;
}

/** Keeps the opened sessions up to date. Events are numbered without gaps, so the next event reveals a missed one. */
export function createFeeds(pageAfter: (session: string, seq: number) => Promise<EventPage>): Feeds {
  const all = createStore<ReadonlyMap<string, Feed>>(new Map());
  const reading = new Map<string, Promise<void>>();
  const behind = new Set<string>();

  function read(session: string, from = 0): Promise<void> {
    const now = reading.get(session);
    if (now !== undefined) return now;
    const isCurrent = () => reading.get(session) === run;
    const run: Promise<void> = Promise.resolve()
      .then(() => readOn(session, from, isCurrent))
      .finally(() => {
        if (!isCurrent()) return;
        reading.delete(session);
        behind.delete(session);
      });
    reading.set(session, run);
    return run;
  }

  async function readOn(session: string, from: number, isCurrent: () => boolean): Promise<void> {
    for (;;) {
      behind.delete(session);
      const { events, isLast } = await pageAfter(session, all.get().get(session)?.seq || from);
      if (!isCurrent()) return;
      all.set((now) => new Map(now).set(session, events.reduce(applyEvent, now.get(session) ?? EMPTY_FEED)));
      if (isLast && !behind.has(session)) return;
    }
  }

  function take(events: readonly StreamEvent[]): void {
    const next = new Map(all.get());
    for (const event of events) {
      if (event.type === 'stream.reset') {
        next.clear();
        reading.clear();
        behind.clear();
      }
      if (!('session' in event)) continue;
      const feed = next.get(event.session);
      const isRecorded = 'seq' in event;
      if (feed !== undefined && !(isRecorded && event.seq > feed.seq + 1)) {
        next.set(event.session, applyEvent(feed, event));
      } else if (isRecorded && (feed !== undefined || reading.has(event.session))) {
        behind.add(event.session);
      }
    }
    all.set(next);
    for (const session of behind) void read(session).catch(() => undefined);
  }

  const dropStreaming = () =>
    all.set((now) => new Map([...now].map(([session, feed]) => [session, { ...feed, streaming: '' }])));

  return { all, read, apply: take, dropStreaming };
}
