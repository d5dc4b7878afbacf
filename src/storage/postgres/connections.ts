import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Query, Row } from '../sql/statement.ts';
import { isAway, postgresTrouble } from './trouble.ts';

const READERS = 4;
const CONNECT_TIMEOUT_MS = 5000;
const INT8 = 20;

/** Connections to one schema. They read 64-bit integers as numbers: the values of the store stay below 2^53. */
export class Connections {
  readonly #config: pg.ClientConfig;
  readonly #schema: string;
  readonly pool: pg.Pool;

  readonly #patienceMs: number;
  #closed = false;

  constructor(url: string, schema: string, patienceMs: number) {
    this.#schema = schema;
    this.#patienceMs = patienceMs;
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'toolwright',
      types: { getTypeParser: parserOf },
    };
    const onConnect = (client: pg.ClientBase) => client.query(this.#settings);
    this.pool = new pg.Pool({ ...this.#config, max: READERS, allowExitOnIdle: true, onConnect });
    // The pool replaces an idle connection that breaks; without a listener the error would end the process.
    this.pool.on('error', () => {});
    // The same holds for a connection in use that awaits no reply at that moment.
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Opens a connection outside the pool, for writing or listening. The caller closes it. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on('error', () => {});
    await client.connect();
    await client.query(this.#settings);
    return client;
  }

  /** Repeats `work` while the server is away. It must be safe to repeat. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    const giveUp = performance.now() + this.#patienceMs;
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      try {
        return await work();
      } catch (error) {
        if (!isAway(error)) throw error;
        if (this.#closed || performance.now() + pause > giveUp) throw postgresTrouble(error);
        await delay(pause);
      }
    }
  }

  /** Runs one statement on any pooled connection, with retries. */
  async query<R extends object>(text: string, values: unknown[] = []): Promise<R[]> {
    try {
      return (await this.retry(() => this.pool.query<R>(text, values))).rows;
    } catch (error) {
      throw postgresTrouble(error);
    }
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.pool.end();
  }

  get #settings(): string {
    return `SET search_path TO ${pg.escapeIdentifier(this.#schema)}; ${DURABLE}`;
  }
}

/** Sets durable commits on the connection: the setting of the server may change after it was checked. */
const DURABLE = `SELECT set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)`;

interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
}

const names = new Map<string, string>();

/** Prepares each statement under a name on first use of a connection, so the server parses it once. */
export async function run(client: Queryable, { statement, values }: Query): Promise<readonly Row[]> {
  const { sql: text } = statement;
  let name = names.get(text);
  if (name === undefined) {
    name = `tw_${hash('sha256', text, 'hex').slice(0, 32)}`;
    names.set(text, name);
  }
  return (await client.query({ name, text, values })).rows;
}

function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text');
}
