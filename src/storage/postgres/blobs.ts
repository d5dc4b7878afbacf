import { hash } from 'node:crypto';
import { ok, type Result } from '../../kernel/result.ts';
import { damagedBlob, runWorkAsync, type SweepableBlobs, unknownBlob } from '../engine.ts';
import { first, rows, type Work } from '../sql/statement.ts';
import type { Statements } from '../sql/statements.ts';
import { type Connections, run } from './connections.ts';
import { postgresTrouble } from './trouble.ts';

/** Stores blobs in the database, because every machine that shares the log must be able to read them. */
export class PostgresBlobs implements SweepableBlobs {
  readonly #connections: Connections;
  readonly #sql: Statements;

  constructor(connections: Connections, sql: Statements) {
    this.#connections = connections;
    this.#sql = sql;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const handle = hash('sha256', bytes, 'hex');
    const values = { hash: handle, bytes: Buffer.from(bytes), size: bytes.byteLength };
    await this.#run(() => first(this.#sql.putBlob, values));
    return handle;
  }

  async get(handle: string): Promise<Result<Uint8Array>> {
    const row = /^[0-9a-f]{64}$/.test(handle)
      ? await this.#run(() => first(this.#sql.getBlob, { hash: handle }))
      : undefined;
    if (row === undefined) return unknownBlob(handle);
    return hash('sha256', row.bytes, 'hex') === handle ? ok(row.bytes) : damagedBlob(handle);
  }

  async sweep(used: ReadonlySet<string>, before: number): Promise<number> {
    const old = await this.#run(() => rows(this.#sql.oldBlobs, { before }));
    const handles = old.map(({ hash: handle }) => handle);
    return this.remove(
      handles.filter((handle) => !used.has(handle)),
      before,
    );
  }

  async remove(handles: Iterable<string>, before: number): Promise<number> {
    let removed = 0;
    for (const handle of handles) {
      const gone = await this.#run(() => first(this.#sql.deleteBlob, { hash: handle, before }));
      if (gone !== undefined) removed++;
    }
    return removed;
  }

  async sizes(): Promise<ReadonlyMap<string, number>> {
    const found = await this.#run(() => rows(this.#sql.blobSizes, undefined));
    return new Map(found.map(({ hash: handle, size }) => [handle, size]));
  }

  async #run<T>(work: () => Work<T>): Promise<T> {
    const { pool } = this.#connections;
    try {
      return await this.#connections.retry(() => runWorkAsync(work(), (query) => run(pool, query)));
    } catch (error) {
      throw postgresTrouble(error);
    }
  }
}
