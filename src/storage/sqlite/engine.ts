import type { NodeStamp } from '../../kernel/call/call.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { Batch, concernsAll, runBatch, type Settled, type Unit } from '../log/batch.ts';
import { closedStore, driveNow, type Engine, type SweepableBlobs } from '../engine.ts';
import type { Written } from '../log/event-rows.ts';
import { GroupCommit } from '../log/group-commit.ts';
import type { Query, Row, Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import type { Database } from './driver.ts';
import type { NodeSlots } from './node-slots.ts';
import { sqliteTrouble } from './trouble.ts';

/** How often the file is asked whether another process wrote. The question takes microseconds. */
const WATCH_MS = 40;

interface Parts {
  db: Database;
  sql: Statements;
  blobs: SweepableBlobs;
  node: NodeStamp;
  slots: NodeSlots;
  now: () => number;
  wall: () => number;
  groupSize?: number | undefined;
}

/** SQLite answers at once, so a commit is one stretch of code: nothing of this process comes between its units. */
export class SqliteEngine implements Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  readonly node: NodeStamp;
  readonly now: () => number;
  readonly wall: () => number;
  onWritten: (events: readonly Written[]) => void = () => {};
  readonly #db: Database;
  readonly #slots: NodeSlots;
  readonly #prepared = new Map<string, ReturnType<Database['prepare']>>();
  readonly #group: GroupCommit;
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ db, sql, blobs, node, slots, now, wall, groupSize }: Parts) {
    this.#db = db;
    this.sql = sql;
    this.blobs = blobs;
    this.node = node;
    this.now = now;
    this.wall = wall;
    this.#slots = slots;
    this.#group = new GroupCommit((units) => this.#commit(units), groupSize);
  }

  write<T>(unit: Unit<T>): Promise<T> {
    return this.#closed ? Promise.reject(closedStore()) : this.#group.add(unit);
  }

  read<T>(work: () => Work<T>): T {
    if (this.#closed) throw closedStore();
    try {
      return driveNow(work(), this.#run);
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

  /** What is in use. The files also hold pages that wait to be given back, and a log that a reader may keep long. */
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

  #commit(units: readonly Unit<unknown>[]): readonly Settled[] {
    let finished = false;
    const batch = new Batch(this.sql, this.node);
    let settled: Settled[];
    try {
      this.#exec('BEGIN IMMEDIATE');
      settled = driveNow(runBatch(batch, units), this.#run);
      finished = true;
      failpoint('store.before_commit');
      this.#exec('COMMIT');
      failpoint('store.after_commit');
    } catch (error) {
      this.#rollBack();
      const trouble = sqliteTrouble(error);
      if (finished || units.length === 1 || concernsAll(trouble)) throw trouble;
      return units.map((unit) => this.#commitAlone(unit));
    }
    this.onWritten(batch.written);
    return settled.map((one) => (one.ok ? one : { ok: false, error: sqliteTrouble(one.error) }));
  }

  /** The places of events are filled in for all units together, so only a try each shows which of them cannot be kept. */
  #commitAlone(unit: Unit<unknown>): Settled {
    try {
      return this.#commit([unit])[0] ?? { ok: false, error: new Error('a unit was not settled') };
    } catch (error) {
      return { ok: false, error };
    }
  }

  /** SQLite rolls back by itself after some errors, and then there is nothing to roll back. */
  #rollBack(): void {
    try {
      this.#exec('ROLLBACK');
    } catch {
      // There was none any more.
    }
  }

  readonly #run = ({ statement, values }: Query): readonly Row[] => {
    const prepared = this.#prepare(statement.sql);
    if (statement.returns) return prepared.all(...values) as Row[];
    prepared.run(...values);
    return NO_ROWS;
  };

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

  /** Undefined when the file cannot be asked just now: nothing may be thrown from a timer, and readers will see. */
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

const NO_ROWS: readonly Row[] = [];
