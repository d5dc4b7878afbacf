import { isPromise, type MaybePromise } from '../../kernel/result.ts';
import type { Settled, Unit } from './batch.ts';

interface Pending {
  unit: Unit<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** As many units as one transaction takes: enough to share its cost, few enough that the loop stays alive. */
const MOST_UNITS = 512;

/**
 * Gathers the writes of two turns of the event loop and commits them together. While a commit is under way the next
 * group gathers. Nobody is told that a write succeeded before its commit did.
 */
export class GroupCommit {
  readonly #commit: (units: readonly Unit<unknown>[]) => MaybePromise<readonly Settled[]>;
  readonly #most: number;
  #pending: Pending[] = [];
  #scheduled = false;
  #running: Promise<void> | undefined;

  /** `commit` runs all units in one transaction, and throws when none of them was kept. */
  constructor(commit: (units: readonly Unit<unknown>[]) => MaybePromise<readonly Settled[]>, most = MOST_UNITS) {
    this.#commit = commit;
    this.#most = most;
  }

  add<T>(unit: Unit<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ unit, resolve: resolve as Pending['resolve'], reject });
      this.#schedule();
    });
  }

  /** Commits what is waiting, without waiting for the end of the turn. */
  async flush(): Promise<void> {
    while (this.#pending.length > 0 || this.#running !== undefined) {
      if (this.#running !== undefined) await this.#running;
      else this.#next();
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#running !== undefined) return;
    this.#scheduled = true;
    // One turn more, so that those who were about to ask share the commit, which costs more than the turn.
    setImmediate(() => setImmediate(() => this.#start()));
  }

  #start(): void {
    this.#scheduled = false;
    if (this.#running === undefined) this.#next();
  }

  #next(): void {
    const group = this.#pending.splice(0, this.#most);
    if (group.length === 0) return;
    const units = group.map(({ unit }) => unit);
    let committed: MaybePromise<readonly Settled[]>;
    try {
      committed = this.#commit(units);
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

function settle(group: readonly Pending[], settled: readonly Settled[]): void {
  for (const [index, { resolve, reject }] of group.entries()) {
    const outcome = settled[index];
    if (outcome?.ok) resolve(outcome.value);
    else reject(outcome?.error);
  }
}
