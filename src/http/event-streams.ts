import type { ServerResponse } from 'node:http';
import type { LogEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import { EventClient, type StreamPosition } from './event-client.ts';
import { type EventFrame, EventTopic, frameOf, liveFrame } from './event-topic.ts';

const PING_MS = 15_000;
const LOOK_MS = 5000;
/** A client that has read nothing for this long is disconnected; it comes back with its last id. */
const MAX_STUCK_MS = 30_000;
const EVERYTHING = '';

export interface EventStreamOptions {
  /** Null for all sessions. */
  readonly session: string | null;
  /** Last id the client has; null to start with new events. */
  readonly after: number | null;
  readonly tokenHash: string;
  /** Workspace of the session, whose file changes are sent. Undefined while the session does not exist yet. */
  readonly workspace?: string | undefined;
}

/** Sends events to clients, each from its own position. One follower of the store serves all of them. */
export class EventStreams {
  readonly #ledger: Ledger;
  readonly #topics = new Map<string, EventTopic>();
  readonly #clients = new Set<EventClient>();
  readonly #perToken = new Map<string, number>();
  readonly #mostPerToken: number;
  readonly #stop: (() => void)[] = [];
  #isFollowing = false;

  constructor(ledger: Ledger, { mostPerToken }: { mostPerToken: number }) {
    this.#ledger = ledger;
    this.#mostPerToken = mostPerToken;
    const pinging = setInterval(() => this.#ping(), PING_MS).unref();
    const looking = setInterval(() => this.#dropStuck(), LOOK_MS).unref();
    this.#stop.push(
      () => clearInterval(pinging),
      () => clearInterval(looking),
    );
  }

  get size(): number {
    return this.#clients.size;
  }

  hasRoom(tokenHash: string): boolean {
    return (this.#perToken.get(tokenHash) ?? 0) < this.#mostPerToken;
  }

  /** Begins with the first client, before its replay is read: an event is in the replay, in the stream, or in both. */
  #follow(): void {
    if (this.#isFollowing) return;
    this.#stop.push(this.#ledger.follow((event) => this.#tell(event)));
    this.#isFollowing = true;
  }

  /** Takes the response over; its head must have been written. */
  async open(out: ServerResponse, { session, after, tokenHash, workspace }: EventStreamOptions): Promise<void> {
    // A client may disconnect before the stream opens; then no close event follows.
    if (out.destroyed) return;
    this.#follow();
    this.#perToken.set(tokenHash, (this.#perToken.get(tokenHash) ?? 0) + 1);
    let client: EventClient | undefined;
    out.on('close', () => {
      if (client !== undefined) {
        client.close();
        this.#clients.delete(client);
      }
      const left = (this.#perToken.get(tokenHash) ?? 1) - 1;
      if (left === 0) this.#perToken.delete(tokenHash);
      else this.#perToken.set(tokenHash, left);
      this.#forgetIdle(session ?? EVERYTHING);
    });
    const replay = session === null ? this.#replayAll : this.#replayOf(session);
    const place = after === null ? 'kept' : await this.#placeOf(session, after);
    if (out.destroyed) return;
    out.write('retry: 1000\n\n');
    const topic = this.#topic(session ?? EVERYTHING);
    topic.workspace ??= workspace;
    client = new EventClient(out, { topic, replay, after, place });
    this.#clients.add(client);
  }

  /** Sends an event that is not recorded, to the clients of its session or workspace and to those of all sessions. */
  tellLive(event: LiveStreamEvent): void {
    const topics = this.#listening(event);
    if (topics.length === 0) return;
    const frame = frameOf(event.type, event, null);
    for (const topic of topics) topic.add(frame);
  }

  close(): void {
    this.#isFollowing = true;
    for (const stop of this.#stop) stop();
    const goodbye = liveFrame('server.stopping', {}).bytes;
    for (const topic of this.#topics.values()) topic.flush();
    for (const client of this.#clients) client.end(goodbye);
  }

  #tell(event: LogEvent): void {
    const { type, session, seq, pos } = event;
    const topic = this.#topics.get(session);
    if (type === 'session.created' && topic !== undefined) topic.workspace ??= event.data.workspace;
    topic?.add(frameOf(type, event, seq));
    this.#topics.get(EVERYTHING)?.add(frameOf(type, event, pos));
  }

  #listening(event: LiveStreamEvent): EventTopic[] {
    const { session, workspace } = { session: undefined, workspace: undefined, ...event };
    const concerned = ([name, topic]: [string, EventTopic]) =>
      name === EVERYTHING || name === session || (workspace !== undefined && topic.workspace === workspace);
    return [...this.#topics].filter(concerned).map(([, topic]) => topic);
  }

  readonly #replayAll = async (after: number, limit: number): Promise<EventFrame[]> => {
    const events = await this.#ledger.log(after, limit);
    return events.map((event) => frameOf(event.type, event, event.pos));
  };

  #replayOf(session: string) {
    return async (after: number, limit: number): Promise<EventFrame[]> => {
      const events = await this.#ledger.events(session, after, limit);
      return events.map((event) => frameOf(event.type, event, event.seq));
    };
  }

  async #placeOf(session: string | null, after: number): Promise<StreamPosition> {
    if (session === null) return this.#placeInLog(after);
    const { prunedSeq, lastSeq } = (await this.#ledger.session(session)) ?? { prunedSeq: 0, lastSeq: 0 };
    if (after > lastSeq) return 'beyond';
    return after < prunedSeq ? 'pruned' : 'kept';
  }

  async #placeInLog(after: number): Promise<StreamPosition> {
    const [own, next] = await this.#ledger.log(after - 1, 2);
    if (own === undefined && after > 0) return 'beyond';
    // A session stays when its events are pruned: an empty log with a session was not always empty.
    if (own === undefined) return (await this.#ledger.sessions({ limit: 1 })).items.length > 0 ? 'pruned' : 'kept';
    const following = own.pos === after ? next : own;
    return following !== undefined && following.pos > after + 1 ? 'pruned' : 'kept';
  }

  #topic(name: string): EventTopic {
    const topic = this.#topics.get(name) ?? new EventTopic();
    this.#topics.set(name, topic);
    return topic;
  }

  #forgetIdle(name: string): void {
    if (this.#topics.get(name)?.listeners.size === 0) this.#topics.delete(name);
  }

  #ping(): void {
    for (const client of this.#clients) client.ping();
  }

  #dropStuck(): void {
    const now = performance.now();
    for (const client of this.#clients) {
      if (client.stuckSince !== null && now - client.stuckSince > MAX_STUCK_MS) client.end();
    }
  }
}
