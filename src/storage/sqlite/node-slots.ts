import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './driver.ts';
import { type Driver, tryLock } from './file-lock.ts';

const MOST_NODES = 1000;

/**
 * The processes that use one state directory. Each holds a lock on a file of its own for as long as it lives, and the
 * system drops the lock when it dies.
 */
export class NodeSlots {
  readonly #driver: Driver;
  readonly #folder: string;
  readonly #held: { id: string; lock: Database };

  /** Takes the first free place. Places are used again, so their number stays that of processes at one time. */
  constructor(driver: Driver, folder: string) {
    this.#driver = driver;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#held = this.#take();
  }

  get id(): string {
    return this.#held.id;
  }

  /** True when the process of this place has ended. Only a try can tell, so the lock is taken for a moment. */
  isFree(id: string): boolean {
    const lock = this.#tryLock(id);
    lock?.close();
    return lock !== undefined;
  }

  close(): void {
    this.#held.lock.close();
  }

  #take(): { id: string; lock: Database } {
    for (let number = 0; number < MOST_NODES; number++) {
      const id = `n${number}`;
      const lock = this.#tryLock(id);
      if (lock !== undefined) return { id, lock };
    }
    throw new Error(`${MOST_NODES} processes use ${this.#folder} already: stop some of them.`);
  }

  #tryLock(id: string): Database | undefined {
    return tryLock(this.#driver, join(this.#folder, `${id}.lock`));
  }
}
