import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventFrame, type EventTopic, type FrameBatch, type FrameListener, liveFrame } from './event-topic.ts';

/** Bytes a client may leave unread before it gets no more live events; the store keeps them for it. */
const MAX_UNREAD_BYTES = 64 * 1024;
const FIRST_PAGE = 8;
const MAX_PAGE = 100;

/** Returns recorded frames with an id above `after`, in order, at most `limit`. */
export type Replay = (after: number, limit: number) => Promise<readonly EventFrame[]>;

/**
 * Where a client stands in the log. `pruned`: part of what follows is gone. `beyond`: the log was never that long, as
 * after a restore from a backup; the client can only start with new events.
 */
export type StreamPosition = 'kept' | 'pruned' | 'beyond';

interface EventClientOptions {
  readonly topic: EventTopic;
  readonly replay: Replay;
  readonly after: number | null;
  readonly place: StreamPosition;
}

/**
 * One client of an event stream. It reads from the store until it has caught up, then gets live events. A client that
 * is
 * too slow is not buffered for: it goes back to reading from the store, at its own pace, from its last event.
 */
export class EventClient implements FrameListener {
  readonly #out: ServerResponse;
  readonly #topic: EventTopic;
  readonly #replay: Replay;
  /** Last id the client got; null while the client has got none and starts with new events. */
  #at: number | null;
  #live = false;
  /** Whether the client was told, since it last was live, that events are gone; it then reloads the state anyway. */
  #wasReset = false;
  #ended = false;
  /** Time since which the client has read nothing, on the monotonic clock; null while it reads. */
  stuckSince: number | null = null;

  constructor(out: ServerResponse, { topic, replay, after, place }: EventClientOptions) {
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

  take({ frames, bytes, first, last }: FrameBatch): void {
    // The first event the client misses is where it continues.
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

  /** Keeps proxies from closing an idle connection. */
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
        // Every announced event was in the store before; if it is missing now, it was pruned.
        if (page.length === 0 && this.#at !== null && this.#at < told) this.#skipTo(told);
        // Events announced during the read are in the store: read on until none is missing.
        if (page.length === 0 && (this.#at === null || this.#topic.told <= this.#at)) return this.#goLive();
        // A store that answers immediately would otherwise starve other clients.
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

  /** Sends as much of a page as the client has room for, at least one frame. */
  #givePage(page: readonly EventFrame[]): void {
    let given = 0;
    for (const frame of page) {
      this.#give(frame);
      given++;
      if (this.#isFull()) break;
    }
    // Frames that did not fit are read again: few at a time where events are large.
    if (given > 0) this.#page = Math.min(MAX_PAGE, given * 2);
  }

  #give({ id, bytes }: EventFrame): void {
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
    return this.#out.writableLength > MAX_UNREAD_BYTES;
  }

  #write(bytes: Buffer): void {
    this.#out.write(bytes);
  }
}

const PING = Buffer.from(': ping\n\n');
