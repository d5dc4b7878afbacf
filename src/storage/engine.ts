import type { NodeStamp } from '../kernel/call/call.ts';
import { StoreError } from '../kernel/call/store-error.ts';
import type { BlobStore } from '../kernel/ports.ts';
import { fail, type MaybePromise, type Result } from '../kernel/result.ts';
import type { StoreWrite } from './log/batch.ts';
import type { WrittenEvent } from './log/event-rows.ts';
import type { Query, Row, Work } from './sql/statement.ts';
import type { Statements } from './sql/statements.ts';

/** A database that runs queries: everything that differs between SQLite and PostgreSQL, and nothing else. */
export interface Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  readonly node: NodeStamp;
  /** Resolves when the write is as durable as the database makes it. Writes of one turn of the loop share a commit. */
  write<T>(write: StoreWrite<T>): Promise<T>;
  /** Sees every acknowledged write. `work` is called again for each retry. */
  read<T>(work: () => Work<T>): MaybePromise<T>;
  /** The clock for deadlines. */
  now(): MaybePromise<number>;
  /** The wall clock, for the times of events that people read. */
  wall(): number;
  /**
   * Returns the nodes that have ended. It runs before the write; `evict` inside the write finds one that is alive after
   * all.
   */
  ended(nodes: readonly NodeStamp[]): MaybePromise<readonly NodeStamp[]>;
  /**
   * Runs inside a write, before the calls of the node are taken. Returns false when the node is alive. Absent where an
   * ended node cannot return.
   */
  evict?(node: NodeStamp): Work<boolean>;
  /** Reports that this node was evicted, or may have been. Absent where a living node is never evicted. */
  onEvicted?(listener: () => void): () => void;
  /** Called with the events this process wrote, after their commit and before any write resolves. It must not throw. */
  onWritten: (events: readonly WrittenEvent[]) => void;
  /** Calls `changed` whenever another process may have written. Returns a function that stops it. */
  watch(changed: () => void): () => void;
  /** Bytes of the log, without blobs. */
  size(): MaybePromise<number>;
  /** Returns space to the system after a prune. */
  shrink(): MaybePromise<void>;
  /** Lists damage below the log, such as a broken page. */
  integrity(): MaybePromise<readonly string[]>;
  close(): MaybePromise<void>;
}

/** A blob store that can delete the blobs that nothing refers to. */
export interface SweepableBlobs extends BlobStore {
  /** Deletes blobs that are not in `used` and were put before `before`. Returns the number deleted. */
  sweep(used: ReadonlySet<string>, before: number): Promise<number>;
  /** Deletes the blobs among `handles` that were put before `before`. Returns the number deleted. */
  remove(handles: Iterable<string>, before: number): Promise<number>;
  /** The size of each blob in bytes. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

export function unknownBlob(handle: string): Result<never> {
  const message = `Artifact ${handle} not found: it was never stored, or was deleted since. Run the call again.`;
  return fail('FILE_NOT_FOUND', message);
}

export function damagedBlob(handle: string): Result<never> {
  const message = `Artifact ${handle} is damaged: its bytes no longer match its hash. Run the call again.`;
  return fail('FILE_NOT_FOUND', message, { damaged: true });
}

export function closedStore(): StoreError {
  return new StoreError('failed', 'The store cannot be used: it was closed. Open it again.');
}

/** Runs the queries of `work` one after another on a database that answers synchronously. */
export function runWork<T>(work: Work<T>, run: (query: Query) => readonly Row[]): T {
  let step = work.next();
  while (!step.done) {
    let rows: readonly Row[];
    try {
      rows = run(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(rows);
  }
  return step.value;
}

/** `runWork` for a database that answers with promises. */
export async function runWorkAsync<T>(work: Work<T>, run: (query: Query) => Promise<readonly Row[]>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    let rows: readonly Row[];
    try {
      rows = await run(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(rows);
  }
  return step.value;
}
