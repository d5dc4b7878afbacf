import type pg from 'pg';
import type { Connections } from './connections.ts';

/** Throttles notices: one in every transaction would make all commits wait for each other. */
const TELL_EVERY_MS = 20;
/** A notice may be lost with its connection, so watchers also poll. */
const LOOK_EVERY_MS = 1000;

/** Notifies other processes of writes, and watchers of this process of the writes of others. */
export class Notices {
  readonly #connections: Connections;
  readonly #channel: string;
  readonly #node: string;
  readonly #watchers = new Set<() => void>();
  #listening: Promise<pg.Client | undefined> | undefined;
  #look: NodeJS.Timeout | undefined;
  #tell: NodeJS.Timeout | undefined;

  constructor(connections: Connections, channel: string, node: string) {
    this.#connections = connections;
    this.#channel = channel;
    this.#node = node;
  }

  wrote(): void {
    this.#tell ??= setTimeout(() => {
      this.#tell = undefined;
      const tell = 'SELECT pg_notify($1, $2)';
      this.#connections.pool.query(tell, [this.#channel, this.#node]).catch(() => {});
    }, TELL_EVERY_MS).unref();
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    this.#listening ??= this.#listen();
    this.#look ??= setInterval(() => this.#changed(), LOOK_EVERY_MS).unref();
    return () => {
      this.#watchers.delete(changed);
    };
  }

  async close(): Promise<void> {
    this.#watchers.clear();
    clearInterval(this.#look);
    clearTimeout(this.#tell);
    await (await this.#listening)?.end().catch(() => {});
  }

  async #listen(): Promise<pg.Client | undefined> {
    try {
      const client = await this.#connections.connect();
      client.on('notification', ({ payload }) => {
        if (payload !== this.#node) this.#changed();
      });
      client.on('end', () => {
        this.#listening = undefined;
      });
      await client.query(`LISTEN "${this.#channel}"`);
      return client;
    } catch {
      this.#listening = undefined;
      return undefined;
    }
  }

  #changed(): void {
    if (this.#watchers.size > 0) this.#listening ??= this.#listen();
    for (const changed of this.#watchers) changed();
  }
}
