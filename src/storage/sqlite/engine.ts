import type { NodeStamp } from '../../kernel/call/call.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { closedStore, type Engine, runWork, type SweepableBlobs } from '../engine.ts';
import { affectsWholeBatch, Batch, runBatch, type SettledWrite, type StoreWrite } from '../log/batch.ts';
import type { WrittenEvent } from '../log/event-rows.ts';
import { GroupCommit } from '../log/group-commit.ts';
import type { Query, Row, Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import { type Database, runPrepared } from './driver.ts';
import type { NodeSlots } from './node-slots.ts';
import { sqliteTrouble } from './trouble.ts';

/** How often the file is checked for writes of other processes. A check takes microseconds. */
const WATCH_MS = 40;

interface SqliteEngineParts {
  db: Database;
  sql: Statements;
  blobs: SweepableBlobs;
  node: NodeStamp;
  slots: NodeSlots;
  now: () => number;
  wall: () => number;
  groupSize?: number | undefined;
}

/** SQLite answers synchronously, so a commit runs without interruption by other code of this process. */
export class SqliteEngine implements Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  readonly node: NodeStamp;
  readonly now: () => number;
  readonly wall: () => number;
  onWritten: (events: readonly WrittenEvent[]) => void = () => {};
  readonly #db: Database;
  readonly #slots: NodeSlots;
  readonly #prepared = new Map<string, ReturnType<Database['prepare']>>();
  readonly #group: GroupCommit;
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ db, sql, blobs, node, slots, now, wall, groupSize }: SqliteEngineParts) {
    this.#db = db;
    this.sql = sql;
    this.blobs = blobs;
    this.node = node;
    this.now = now;
    this.wall = wall;
    this.#slots = slots;
    this.#group = new GroupCommit((writes) => this.#commit(writes), groupSize);
  }

  write<T>(write: StoreWrite<T>): Promise<T> {
    return this.#closed ? Promise.reject(closedStore()) : this.#group.add(write);
  }

  read<T>(work: () => Work<T>): T {
    if (this.#closed) throw closedStore();
    try {
      return runWork(work(), this.#run);
    } catch (error) {
      throw sqliteTrouble(error);
    }
  }

  ended(nodes: readonly NodeStamp[]): readonly NodeStamp[] {
    return nodes.filter(({ id, epoch }) => (id === this.node.id ? epoch !== this.node.epoch : this.#slots.isFree(id)));
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    this.#timer ??= this.#startWatching();
    return () => {
      this.#watchers.delete(changed);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Counts the pages in use. The files also hold free pages, and a write-ahead log that a reader may keep long. */
  size(): number {
    const [pages, free, bytes] = ['page_count', 'freelist_count', 'page_size'].map((name) => this.#pragma(name));
    return ((pages ?? 0) - (free ?? 0)) * (bytes ?? 0);
  }

  /** Passive: any other checkpoint waits for readers, and the whole process with it. */
  shrink(): void {
    try {
      this.#db.exec('PRAGMA incremental_vacuum');
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch (error) {
      throw sqliteTrouble(error);
    }
  }

  integrity(): readonly string[] {
    const found = this.#db.prepare('PRAGMA quick_check(20)').all() as { quick_check: string }[];
    return found.map(({ quick_check }) => quick_check).filter((line) => line !== 'ok');
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#group.flush();
    clearInterval(this.#timer);
    this.#watchers.clear();
    this.#prepared.clear();
    this.#db.close();
    this.#slots.close();
  }

  #commit(writes: readonly StoreWrite<unknown>[]): readonly SettledWrite[] {
    let finished = false;
    const batch = new Batch(this.sql, this.node);
    let settled: SettledWrite[];
    try {
      this.#exec('BEGIN IMMEDIATE');
      settled = runWork(runBatch(batch, writes), this.#run);
      finished = true;
      failpoint('store.before_commit');
      this.#exec('COMMIT');
      failpoint('store.after_commit');
    } catch (error) {
      this.#rollBack();
      const trouble = sqliteTrouble(error);
      if (finished || writes.length === 1 || affectsWholeBatch(trouble)) throw trouble;
      return writes.map((write) => this.#commitAlone(write));
    }
    this.onWritten(batch.written);
    return settled.map((one) => (one.ok ? one : { ok: false, error: sqliteTrouble(one.error) }));
  }

  /** Commits one write alone: positions are taken for the whole batch, so only this shows which write fails. */
  #commitAlone(write: StoreWrite<unknown>): SettledWrite {
    try {
      return this.#commit([write])[0] ?? { ok: false, error: new Error('a write was not settled') };
    } catch (error) {
      return { ok: false, error };
    }
  }

  /** Tolerates that SQLite has rolled back by itself, as it does after some errors. */
  #rollBack(): void {
    try {
      this.#exec('ROLLBACK');
    } catch {
      // There was no transaction left.
    }
  }

  readonly #run = (query: Query): readonly Row[] => runPrepared(this.#prepare(query.statement.sql), query);

  #exec(sql: string): void {
    this.#prepare(sql).run();
  }

  #prepare(sql: string) {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#db.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  #startWatching(): NodeJS.Timeout {
    let seen = this.#dataVersion();
    return setInterval(() => {
      const version = this.#dataVersion();
      if (version === seen && version !== undefined) return;
      seen = version;
      for (const changed of this.#watchers) changed();
    }, WATCH_MS).unref();
  }

  /** Returns undefined when the file cannot be read: a timer must not throw, and the next read will report it. */
  #dataVersion(): number | undefined {
    try {
      return this.#pragma('data_version');
    } catch {
      return undefined;
    }
  }

  #pragma(name: string): number {
    return (this.#prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name] ?? 0;
  }
}
