import type { FollowOptions, LogEvent } from '../../kernel/call/event.ts';
import { isPromise } from '../../kernel/result.ts';
import type { Engine } from '../engine.ts';
import { toLazyEvent, type WrittenEvent } from '../log/event-rows.ts';
import { first } from '../sql/statement.ts';
import { Follower, type LogSource, SharedFollower } from './follow.ts';

type LogListener = (event: LogEvent) => void;

/** All followers of the log in this process. Events that this process wrote are delivered at once, without reading. */
export class Followers {
  readonly #engine: Engine;
  readonly #source: LogSource;
  readonly #shared: SharedFollower;
  readonly #alone = new Set<Follower>();
  /** The newest position this process has seen. */
  #known: number;

  constructor(engine: Engine, { log, head }: Pick<LogSource, 'log'> & { head: number }) {
    this.#engine = engine;
    this.#source = { log, watch: (changed) => engine.watch(changed) };
    this.#shared = new SharedFollower(this.#source);
    this.#known = head;
    engine.onWritten = (events) => this.#tell(events);
  }

  add(listener: LogListener, { types, after }: FollowOptions): () => void {
    const wanted = types && new Set(types);
    if (after === undefined) return this.#shared.add({ listener, types: wanted, from: this.#newest() });
    const filtered: LogListener = (event) => {
      if (wanted === undefined || wanted.has(event.type)) listener(event);
    };
    const follower = new Follower(this.#source, filtered, after);
    this.#alone.add(follower);
    return () => {
      this.#alone.delete(follower);
      follower.stop();
    };
  }

  stop(): void {
    for (const follower of this.#alone) follower.stop();
    this.#alone.clear();
    this.#shared.stop();
  }

  /**
   * Returns the position of the last event. Where only an async query could tell, the newest position seen so far: no
   * event is missed.
   */
  #newest(): number {
    const { sql } = this.#engine;
    const head = sql.dialect === 'sqlite' ? this.#engine.read(() => first(sql.logHead, undefined)) : undefined;
    return isPromise(head) ? this.#known : (head?.pos ?? this.#known);
  }

  #tell(written: readonly WrittenEvent[]): void {
    const newest = written.at(-1)?.event.pos;
    if (newest === undefined) return;
    if (newest > this.#known) this.#known = newest;
    if (this.#alone.size === 0 && this.#shared.isEmpty) return;
    // Data in a blob has to be read first, so an empty list makes the followers read the log.
    const events = written.some(({ payload }) => payload.blob !== null) ? [] : written.map(toLazyEvent);
    this.#shared.deliver(events);
    for (const follower of this.#alone) follower.deliver(events);
  }
}
