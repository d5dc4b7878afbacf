import type { LogEvent } from '../kernel/call/event.ts';
import { isPromise } from '../kernel/result.ts';
import type { Engine } from './engine.ts';
import { toWrittenEvent, type Written } from './log/event-rows.ts';
import { Follower, type Source } from './follow.ts';
import { SharedFollower } from './shared-follower.ts';
import { first } from './sql/statement.ts';

type Listener = (event: LogEvent) => void;

/** Everybody in this process who follows the log. What this process wrote they are told at once, without a look at it. */
export class Followers {
  readonly #engine: Engine;
  readonly #source: Source;
  readonly #shared: SharedFollower;
  readonly #alone = new Set<Follower>();
  /** The newest position this process has seen. */
  #known: number;

  constructor(engine: Engine, { log, head }: Pick<Source, 'log'> & { head: number }) {
    this.#engine = engine;
    this.#source = { log, watch: (changed) => engine.watch(changed) };
    this.#shared = new SharedFollower(this.#source);
    this.#known = head;
    engine.onWritten = (events) => this.#tell(events);
  }

  add(listener: Listener, after?: number): () => void {
    if (after === undefined) return this.#shared.add(listener, this.#newest());
    const follower = new Follower(this.#source, listener, after);
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

  /** Where the log ends now; a database that answers later gives what this process has seen, which is not too late. */
  #newest(): number {
    const { sql } = this.#engine;
    const head = sql.dialect === 'sqlite' ? this.#engine.read(() => first(sql.logHead, undefined)) : undefined;
    return isPromise(head) ? this.#known : (head?.pos ?? this.#known);
  }

  #tell(written: readonly Written[]): void {
    const newest = written.at(-1)?.event.pos;
    if (newest === undefined) return;
    if (newest > this.#known) this.#known = newest;
    if (this.#alone.size === 0 && this.#shared.isEmpty) return;
    // What is in a blob has to be read first.
    const events = written.some(({ payload }) => payload.blob !== null) ? [] : written.map(toWrittenEvent);
    this.#shared.hear(events);
    for (const follower of this.#alone) follower.hear(events);
  }
}
