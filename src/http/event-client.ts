import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Batch, type EventTopic, type Frame, type Listener, liveFrame } from './event-topic.ts';

/** What a reader may leave unread before it is told no more; the store keeps the rest for it. */
const MOST_UNREAD_BYTES = 64 * 1024;
const FIRST_PAGE = 8;
const MOST_PAGE = 100;

/** Recorded frames with an id above, in order, at most so many. */
export type Replay = (after: number, limit: number) => Promise<readonly Frame[]>;

/**
 * Where a reader stands in the log. `pruned`: what came after is gone in part. `beyond`: the log never was so long, as one
 * that was put in the place of another is not; its reader can only begin with what comes next.
 */
export type Place = 'kept' | 'pruned' | 'beyond';

interface Parts {
  readonly topic: EventTopic;
  readonly replay: Replay;
  readonly after: number | null;
  readonly place: Place;
}

/**
 * One reader of a stream. It reads from the store until it has caught up, then it is told what happens. A reader who is
 * too slow is not buffered for: it goes back to reading from the store, at its own pace, from where it stood.
 */
export class EventClient implements Listener {
  readonly #out: ServerResponse;
  readonly #topic: EventTopic;
  readonly #replay: Replay;
  /** The last id it was given; null while all it is to be given is still to come. */
  #at: number | null;
  #live = false;
  /** Whether it was told since it last was live that something is gone: then it looks at the state anyway. */
  #wasReset = false;
  #ended = false;
  /** Since when it has read nothing, on the monotonic clock; null while it reads. */
  stuckSince: number | null = null;

  constructor(out: ServerResponse, { topic, replay, after, place }: Parts) {
    this.#out = out;
    this.#topic = topic;
    this.#replay = replay;
    this.#at = place === 'beyond' ? null : after;
    out.on('drain', () => this.#drained());
    this.#topic.listeners.add(this);
    if (place !== 'kept') this.#reset(after);
    if (this.#at === null) this.#goLive();
    else void this.#catchUp();
  }

  take({ frames, bytes, first, last }: Batch): void {
    // The first that it misses is where it goes on.
    if (this.#at === null && Number.isFinite(first)) this.#at = first - 1;
    if (!this.#live || this.#ended) return;
    const at = this.#at ?? 0;
    if (first > at) this.#write(bytes);
    else for (const frame of frames) if (frame.id === null || frame.id > at) this.#write(frame.bytes);
    if (last > at) this.#at = last;
    if (this.#isFull()) {
      this.#live = false;
      this.stuckSince ??= performance.now();
    }
  }

  /** Keeps what is between from taking the connection for dead. */
  ping(): void {
    if (this.#live && !this.#ended) this.#write(PING);
  }

  end(last?: Buffer): void {
    if (this.#ended) return;
    this.close();
    if (last !== undefined && this.#live) this.#out.end(last);
    else this.#out.destroy();
  }

  close(): void {
    this.#ended = true;
    this.#topic.listeners.delete(this);
  }

  #drained(): void {
    this.stuckSince = null;
    if (!this.#live && !this.#ended) void this.#catchUp();
  }

  #reading = false;
  #page = FIRST_PAGE;

  async #catchUp(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (!this.#ended && !this.#isFull()) {
        const { told } = this.#topic;
        const page = this.#at === null ? [] : await this.#replay(this.#at, this.#page);
        if (this.#ended) return;
        this.#givePage(page);
        // What is told was in the store before: if it is not there now, it was pruned.
        if (page.length === 0 && this.#at !== null && this.#at < told) this.#skipTo(told);
        // What was told while we read is in the store: read on until nothing is missing.
        if (page.length === 0 && (this.#at === null || this.#topic.told <= this.#at)) return this.#goLive();
        // A store that answers at once would leave nobody else a turn.
        await nextTurn();
      }
      if (!this.#ended) this.stuckSince ??= performance.now();
    } catch {
      this.end();
    } finally {
      this.#reading = false;
    }
  }

  #goLive(): void {
    this.#live = true;
    this.#wasReset = false;
  }

  /** As much of it as the reader has room for, and at least one. */
  #givePage(page: readonly Frame[]): void {
    let given = 0;
    for (const frame of page) {
      this.#give(frame);
      given++;
      if (this.#isFull()) break;
    }
    // What it had no room for is read again: of large events, few at a time.
    if (given > 0) this.#page = Math.min(MOST_PAGE, given * 2);
  }

  #give({ id, bytes }: Frame): void {
    if (id !== null && this.#at !== null && id > this.#at + 1) this.#skipTo(id - 1);
    this.#write(bytes);
    this.#at = id ?? this.#at;
  }

  #skipTo(id: number): void {
    if (!this.#wasReset) this.#reset(this.#at);
    this.#at = id;
  }

  #reset(after: number | null): void {
    this.#wasReset = true;
    this.#write(liveFrame('stream.reset', { after }).bytes);
  }

  #isFull(): boolean {
    return this.#out.writableLength > MOST_UNREAD_BYTES;
  }

  #write(bytes: Buffer): void {
    this.#out.write(bytes);
  }
}

const PING = Buffer.from(': ping\n\n');
