import { join } from 'node:path';
import { makePrivateFolder } from '../../host/private-folder.ts';
import type { Database } from './driver.ts';
import { tryLock } from './file-lock.ts';

const MAX_NODES = 1000;

/**
 * The processes that use one state directory. Each locks a file of its own while it lives, and the system drops the
 * lock when it dies.
 */
export class NodeSlots {
  readonly #folder: string;
  readonly #held: { id: string; lock: Database };

  /** Takes the first free slot. Slots are reused, so there are only as many as processes at one time. */
  constructor(folder: string) {
    this.#folder = folder;
    makePrivateFolder(folder);
    this.#held = this.#take();
  }

  get id(): string {
    return this.#held.id;
  }

  /** Returns true when the process of this slot has ended. To find out, the lock is taken for a moment. */
  isFree(id: string): boolean {
    const lock = this.#tryLock(id);
    lock?.close();
    return lock !== undefined;
  }

  close(): void {
    this.#held.lock.close();
  }

  #take(): { id: string; lock: Database } {
    for (let number = 0; number < MAX_NODES; number++) {
      const id = `n${number}`;
      const lock = this.#tryLock(id);
      if (lock !== undefined) return { id, lock };
    }
    throw new Error(`${MAX_NODES} processes use ${this.#folder} already: stop some of them.`);
  }

  #tryLock(id: string): Database | undefined {
    return tryLock(join(this.#folder, `${id}.lock`));
  }
}
