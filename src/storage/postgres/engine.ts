import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { NodeStamp } from '../../kernel/call/call.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { Batch, concernsAll, runBatch, type Settled, type Unit } from '../log/batch.ts';
import { closedStore, driveLater, type Engine, type SweepableBlobs } from '../engine.ts';
import type { Written } from '../log/event-rows.ts';
import { GroupCommit } from '../log/group-commit.ts';
import type { Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import { type Connections, run } from './connections.ts';
import type { NodeLease } from './node-lease.ts';
import { Notices } from './notices.ts';
import { isAway, isCollision, postgresTrouble } from './trouble.ts';

const MOST_COLLISIONS = 10;
const UNKNOWN_COMMIT =
  'The store was away for so long that it forgot this process: whether the last write was kept is not known. Look before you repeat it.';

interface Parts {
  connections: Connections;
  sql: Statements;
  blobs: SweepableBlobs;
  lease: NodeLease;
  channel: string;
}

/** A batch on its way. Savepoints cost two round trips a unit, so they are used once a unit has failed. */
interface Attempt {
  readonly number: number;
  readonly units: readonly Unit<unknown>[];
  savepoints: boolean;
  /** What will be answered, if the commit that was sent turns out to have happened. */
  settled: readonly Settled[] | undefined;
  written: readonly Written[];
}

/**
 * One connection writes, so that the writes that gather while it is busy share the next commit; a few others read. A
 * write whose connection broke is tried again until the server is back: each batch has a number that is committed with
 * it, so a commit that was never answered is known to have happened, or not, before anything is repeated.
 */
export class PostgresEngine implements Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  onWritten: (events: readonly Written[]) => void = () => {};
  readonly #connections: Connections;
  readonly #lease: NodeLease;
  readonly #notices: Notices;
  readonly #group = new GroupCommit((units) => this.#commit(units));
  #writer: Promise<pg.Client> | undefined;
  #batch = 0;
  #closed = false;

  constructor({ connections, sql, blobs, lease, channel }: Parts) {
    this.#connections = connections;
    this.sql = sql;
    this.blobs = blobs;
    this.#lease = lease;
    this.#notices = new Notices(connections, channel, lease.node.id);
  }

  get node(): NodeStamp {
    return this.#lease.node;
  }

  write<T>(unit: Unit<T>): Promise<T> {
    return this.#closed ? Promise.reject(closedStore()) : this.#group.add(unit);
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    if (this.#closed) throw closedStore();
    return this.#connections.patiently(async () => {
      const client = await this.#connections.pool.connect();
      let broken = false;
      try {
        return await driveLater(work(), (query) => run(client, query));
      } catch (error) {
        broken = isAway(error);
        throw broken ? error : postgresTrouble(error);
      } finally {
        client.release(broken);
      }
    });
  }

  async now(): Promise<number> {
    return this.#lease.now();
  }

  wall(): number {
    return Date.now();
  }

  ended(nodes: readonly NodeStamp[]): Promise<readonly NodeStamp[]> {
    return this.#lease.ended(nodes);
  }

  giveUp(node: NodeStamp): Work<boolean> {
    return this.#lease.giveUp(node);
  }

  onGivenUp(listener: () => void): () => void {
    return this.#lease.onGivenUp(listener);
  }

  watch(changed: () => void): () => void {
    return this.#notices.watch(changed);
  }

  /** What the rows hold, not what their files take: PostgreSQL gives files back late. */
  async size(): Promise<number> {
    const sum = `SELECT
      (SELECT coalesce(sum(octet_length(coalesce(data, '')) + 250), 0) FROM events)::bigint +
      (SELECT coalesce(sum(octet_length(coalesce(args, '')) + octet_length(coalesce(outcome, '')) + 300), 0)
       FROM calls)::bigint AS bytes`;
    const [row] = await this.#connections.query<{ bytes: number }>(sum);
    return row?.bytes ?? 0;
  }

  async shrink(): Promise<void> {
    await this.#connections.query('VACUUM events');
    await this.#connections.query('VACUUM calls');
  }

  /** The server checks its pages itself when they are read. */
  integrity(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#group.flush();
    await this.#notices.close();
    await this.#lease.close();
    await this.#dropWriter();
    await this.#connections.close();
  }

  async #commit(units: readonly Unit<unknown>[]): Promise<readonly Settled[]> {
    const number = ++this.#batch;
    const attempt: Attempt = { number, units, savepoints: false, settled: undefined, written: [] };
    for (let collisions = 0; ; ) {
      try {
        const settled = await this.#connections.patiently(() => this.#attempt(attempt));
        this.#notices.wrote();
        this.onWritten(attempt.written);
        return settled;
      } catch (error) {
        if (isCollision(error) && collisions++ < MOST_COLLISIONS) await delay(collisions * 5);
        else if (units.length > 1 && !attempt.savepoints && !(error instanceof StoreError)) attempt.savepoints = true;
        else if (units.length > 1 && !concernsAll(postgresTrouble(error))) return this.#commitEach(units);
        else throw postgresTrouble(error);
      }
    }
  }

  /** The places of events are filled in for all units together, so only a try each shows which of them cannot be kept. */
  async #commitEach(units: readonly Unit<unknown>[]): Promise<readonly Settled[]> {
    const settled: Settled[] = [];
    for (const unit of units) {
      try {
        settled.push(...(await this.#commit([unit])));
      } catch (error) {
        settled.push({ ok: false, error });
      }
    }
    return settled;
  }

  async #attempt(attempt: Attempt): Promise<readonly Settled[]> {
    const { number, units, savepoints } = attempt;
    this.#writer ??= this.#connections.connect();
    try {
      const client = await this.#writer;
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      try {
        // Waits for the end of an earlier try whose connection broke, if the server still works on it.
        const known = await this.#lease.takeBatch(client, number);
        if (known !== 'new' && attempt.settled !== undefined) {
          if (known === 'forgotten') throw new StoreError('failed', UNKNOWN_COMMIT);
          await client.query('ROLLBACK');
          return attempt.settled;
        }
        if (known === 'committed') throw new Error(`batch ${number} was committed before it was sent`);
        const batch = new Batch(this.sql, this.node);
        const settled = await driveLater(runBatch(batch, units, { savepoints }), (query) => run(client, query));
        const answer = settled.map((one) => (one.ok ? one : { ok: false as const, error: postgresTrouble(one.error) }));
        attempt.settled = answer;
        attempt.written = batch.written;
        failpoint('store.before_commit');
        await client.query('COMMIT');
        failpoint('store.after_commit');
        return answer;
      } catch (error) {
        if (!isAway(error)) await client.query('ROLLBACK');
        throw error;
      }
    } catch (error) {
      if (isAway(error)) await this.#dropWriter();
      throw error;
    }
  }

  async #dropWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.then((client) => client.end()).catch(() => {});
  }
}
