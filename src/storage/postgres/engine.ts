import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { NodeStamp } from '../../kernel/call/call.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { closedStore, type Engine, runWorkAsync, type SweepableBlobs } from '../engine.ts';
import { affectsWholeBatch, Batch, runBatch, type SettledWrite, type StoreWrite } from '../log/batch.ts';
import type { WrittenEvent } from '../log/event-rows.ts';
import { GroupCommit } from '../log/group-commit.ts';
import type { Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import { type Connections, run } from './connections.ts';
import type { NodeLease } from './node-lease.ts';
import { Notices } from './notices.ts';
import { isAway, isCollision, postgresTrouble } from './trouble.ts';

const MAX_COLLISIONS = 10;
const UNKNOWN_COMMIT =
  'The store was away for so long that it dropped this process: the last write may or may not be stored. Check before you repeat it.';

interface PostgresEngineParts {
  connections: Connections;
  sql: Statements;
  blobs: SweepableBlobs;
  lease: NodeLease;
  channel: string;
}

/**
 * A batch being committed. Savepoints cost two round trips for each write, so they are used only after a write failed.
 */
interface CommitAttempt {
  readonly number: number;
  readonly writes: readonly StoreWrite<unknown>[];
  savepoints: boolean;
  /** The results to return if the commit turns out to have happened although its reply was lost. */
  settled: readonly SettledWrite[] | undefined;
  written: readonly WrittenEvent[];
}

/**
 * One connection writes, so that the writes that gather while it is busy share the next commit; a few others read. A
 * write whose connection broke is retried until the server is back: each batch commits a number with it, which shows
 * whether a commit without a reply has happened before anything is repeated.
 */
export class PostgresEngine implements Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  onWritten: (events: readonly WrittenEvent[]) => void = () => {};
  readonly #connections: Connections;
  readonly #lease: NodeLease;
  readonly #notices: Notices;
  readonly #group = new GroupCommit((writes) => this.#commit(writes));
  #writer: Promise<pg.Client> | undefined;
  #batch = 0;
  #closed = false;

  constructor({ connections, sql, blobs, lease, channel }: PostgresEngineParts) {
    this.#connections = connections;
    this.sql = sql;
    this.blobs = blobs;
    this.#lease = lease;
    this.#notices = new Notices(connections, channel, lease.node.id);
  }

  get node(): NodeStamp {
    return this.#lease.node;
  }

  write<T>(write: StoreWrite<T>): Promise<T> {
    return this.#closed ? Promise.reject(closedStore()) : this.#group.add(write);
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    if (this.#closed) throw closedStore();
    return this.#connections.retry(async () => {
      const client = await this.#connections.pool.connect();
      let broken = false;
      try {
        return await runWorkAsync(work(), (query) => run(client, query));
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

  evict(node: NodeStamp): Work<boolean> {
    return this.#lease.evict(node);
  }

  onEvicted(listener: () => void): () => void {
    return this.#lease.onEvicted(listener);
  }

  watch(changed: () => void): () => void {
    return this.#notices.watch(changed);
  }

  /** Counts the content of the rows, not the size of the files: PostgreSQL returns space late. */
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

  /** The server checks its pages itself when it reads them. */
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

  async #commit(writes: readonly StoreWrite<unknown>[]): Promise<readonly SettledWrite[]> {
    const number = ++this.#batch;
    const attempt: CommitAttempt = { number, writes, savepoints: false, settled: undefined, written: [] };
    for (let collisions = 0; ; ) {
      try {
        const settled = await this.#connections.retry(() => this.#attempt(attempt));
        this.#notices.wrote();
        this.onWritten(attempt.written);
        return settled;
      } catch (error) {
        if (isCollision(error) && collisions++ < MAX_COLLISIONS) await delay(collisions * 5);
        else if (writes.length > 1 && !attempt.savepoints && !(error instanceof StoreError)) attempt.savepoints = true;
        else if (writes.length > 1 && !affectsWholeBatch(postgresTrouble(error))) return this.#commitEach(writes);
        else throw postgresTrouble(error);
      }
    }
  }

  /** Commits each write alone: positions are taken for the whole batch, so only this shows which write fails. */
  async #commitEach(writes: readonly StoreWrite<unknown>[]): Promise<readonly SettledWrite[]> {
    const settled: SettledWrite[] = [];
    for (const write of writes) {
      try {
        settled.push(...(await this.#commit([write])));
      } catch (error) {
        settled.push({ ok: false, error });
      }
    }
    return settled;
  }

  async #attempt(attempt: CommitAttempt): Promise<readonly SettledWrite[]> {
    const { number, writes, savepoints } = attempt;
    this.#writer ??= this.#connections.connect();
    try {
      const client = await this.#writer;
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      try {
        // Waits for the end of an earlier attempt whose connection broke, if the server still runs it.
        const known = await this.#lease.takeBatch(client, number);
        if (known !== 'new' && attempt.settled !== undefined) {
          if (known === 'forgotten') throw new StoreError('failed', UNKNOWN_COMMIT);
          await client.query('ROLLBACK');
          return attempt.settled;
        }
        if (known === 'committed') throw new Error(`batch ${number} was committed before it was sent`);
        const batch = new Batch(this.sql, this.node);
        const settled = await runWorkAsync(runBatch(batch, writes, { savepoints }), (query) => run(client, query));
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
