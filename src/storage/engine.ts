import type { NodeStamp } from '../kernel/call/call.ts';
import type { BlobStore } from '../kernel/ports.ts';
import type { MaybePromise } from '../kernel/result.ts';
import { StoreError } from '../kernel/call/store-error.ts';
import type { Unit } from './log/batch.ts';
import type { Written } from './log/event-rows.ts';
import type { Query, Row, Work } from './sql/statement.ts';
import type { Statements } from './sql/statements.ts';

/** A database that runs work: what differs between SQLite and PostgreSQL, and nothing else. */
export interface Engine {
  readonly sql: Statements;
  readonly blobs: SweepableBlobs;
  readonly node: NodeStamp;
  /** Resolves when the unit is as durable as the database makes it. Units of one turn of the loop share a commit. */
  write<T>(unit: Unit<T>): Promise<T>;
  /** Sees every write that was acknowledged. `work` is made anew when it must be tried again. */
  read<T>(work: () => Work<T>): MaybePromise<T>;
  /** The clock that deadlines are measured by. */
  now(): MaybePromise<number>;
  /** The clock that people read: when events happened. */
  wall(): number;
  /** Which of these nodes have ended. Asked before a unit; one that turns out to live is found by `giveUp` in it. */
  ended(nodes: readonly NodeStamp[]): MaybePromise<readonly NodeStamp[]>;
  /** Inside a unit, before a node's calls are taken from it. False when it turns out to live. Absent where the dead stay dead. */
  giveUp?(node: NodeStamp): Work<boolean>;
  /** Tells when this node itself was given up, or may have been. Absent where a node that lives never is. */
  onGivenUp?(listener: () => void): () => void;
  /** Told of what this process wrote, right after its commit and before anybody's write is answered. It must not throw. */
  onWritten: (events: readonly Written[]) => void;
  /** Calls `changed` whenever another process may have written. Returns how to stop. */
  watch(changed: () => void): () => void;
  /** Bytes that the log takes, without blobs. */
  size(): MaybePromise<number>;
  /** Gives space back to the system after much was deleted. */
  shrink(): MaybePromise<void>;
  /** Looks for damage below the log itself, such as a broken page. Empty when there is none. */
  integrity(): MaybePromise<readonly string[]>;
  close(): MaybePromise<void>;
}

/** A blob store that can be asked to forget what nothing refers to. */
export interface SweepableBlobs extends BlobStore {
  /** Removes blobs that are not in `used` and were put before `before`. Returns how many. */
  sweep(used: ReadonlySet<string>, before: number): Promise<number>;
  /** Removes those of these that were put before `before`. Returns how many. */
  remove(handles: Iterable<string>, before: number): Promise<number>;
  /** How many bytes each blob has. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

export function closedStore(): StoreError {
  return new StoreError('failed', 'The store cannot be used: it was closed. Open it again.');
}

export function driveNow<T>(work: Work<T>, run: (query: Query) => readonly Row[]): T {
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

export async function driveLater<T>(work: Work<T>, run: (query: Query) => Promise<readonly Row[]>): Promise<T> {
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
