import { isPromise, type MaybePromise } from '../../kernel/result.ts';
import type { SettledWrite, StoreWrite } from './batch.ts';

interface PendingWrite {
  write: StoreWrite<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Enough writes to share the cost of a commit, few enough to keep the event loop responsive. */
const MAX_WRITES_PER_COMMIT = 512;

/**
 * Gathers the writes of two turns of the event loop and commits them together. While a commit is under way the next
 * group gathers. A write resolves only after its commit succeeded.
 */
export class GroupCommit {
  readonly #commit: (writes: readonly StoreWrite<unknown>[]) => MaybePromise<readonly SettledWrite[]>;
  readonly #most: number;
  #pending: PendingWrite[] = [];
  #scheduled = false;
  #running: Promise<void> | undefined;

  /** `commit` runs all writes in one transaction and throws when it kept none of them. */
  constructor(
    commit: (writes: readonly StoreWrite<unknown>[]) => MaybePromise<readonly SettledWrite[]>,
    most = MAX_WRITES_PER_COMMIT,
  ) {
    this.#commit = commit;
    this.#most = most;
  }

  add<T>(write: StoreWrite<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ write, resolve: resolve as PendingWrite['resolve'], reject });
      this.#schedule();
    });
  }

  /** Commits all pending writes at once instead of at the end of the turn. */
  async flush(): Promise<void> {
    while (this.#pending.length > 0 || this.#running !== undefined) {
      if (this.#running !== undefined) await this.#running;
      else this.#next();
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#running !== undefined) return;
    this.#scheduled = true;
    // One turn more: writes that are about to come share the commit, which costs more than the turn.
    setImmediate(() => setImmediate(() => this.#start()));
  }

  #start(): void {
    this.#scheduled = false;
    if (this.#running === undefined) this.#next();
  }

  #next(): void {
    const group = this.#pending.splice(0, this.#most);
    if (group.length === 0) return;
    const writes = group.map(({ write }) => write);
    let committed: MaybePromise<readonly SettledWrite[]>;
    try {
      committed = this.#commit(writes);
    } catch (error) {
      for (const { reject } of group) reject(error);
      this.#again();
      return;
    }
    if (!isPromise(committed)) {
      settle(group, committed);
      this.#again();
      return;
    }
    this.#running = committed
      .then(
        (settled) => settle(group, settled),
        (error) => {
          for (const { reject } of group) reject(error);
        },
      )
      .then(() => {
        this.#running = undefined;
        this.#again();
      });
  }

  #again(): void {
    if (this.#pending.length > 0) this.#schedule();
  }
}

function settle(group: readonly PendingWrite[], settled: readonly SettledWrite[]): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = settled[index];
    if (outcome?.ok) resolve(outcome.value);
    else reject(outcome?.error);
  }
}
