import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './errno.ts';
import { makePrivateFolder } from './private-folder.ts';
import { OWN_MARK, stateOfProcess } from './process-identity.ts';

/** The lock stays taken so long after the last change, so that a burst of changes takes it once. */
const KEEP_MS = 50;
/** A busy holder looks after so long whether other processes wait. */
const MAX_HOLD_MS = 200;
/** The holder touches its file so often, unless it is busy with one long step. */
const TOUCH_MS = 1000;
/** Longer than such a step takes: a lock file of another container that was not touched for so long counts as left behind. */
const UNTOUCHED_MS = 120_000;
const [SHORTEST_WAIT_MS, LONGEST_WAIT_MS] = [2, 20];

/**
 * A lock between processes that share a journal, so that they change a workspace one after the other. A process creates
 * a file with its own name and lists the folder: without a file of another living process the lock is taken, else it
 * removes its file and tries again. Two processes that come together may both step back, but never both go on. Files of
 * ended processes do not count, nor files of other containers and machines that were not touched for long.
 */
export class CrossProcessLock {
  readonly #folder: string;
  readonly #name: string;
  #isMine = false;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #touching: NodeJS.Timeout | undefined;

  constructor(folder: string, root: string) {
    this.#folder = join(folder, 'turns', Buffer.from(root).toString('base64url').slice(-120) || 'root');
    makePrivateFolder(this.#folder);
    const { pid, started, space } = OWN_MARK;
    this.#name = `${pid}-${started}-${randomBytes(6).toString('hex')}-${space}`;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    if (!this.#isMine) await this.#take();
    try {
      return await work();
    } finally {
      if (this.#isAwaited()) this.release();
      else this.#timer = setTimeout(() => this.release(), KEEP_MS).unref();
    }
  }

  #isAwaited(): boolean {
    if (performance.now() - this.#since <= MAX_HOLD_MS) return false;
    this.#since = performance.now();
    return this.#others(WAITING).length > 0;
  }

  release(): void {
    clearTimeout(this.#timer);
    if (!this.#isMine) return;
    this.#isMine = false;
    clearInterval(this.#touching);
    this.#leave(TURN);
  }

  async #take(): Promise<void> {
    for (let wait = SHORTEST_WAIT_MS; ; wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)) {
      this.#enter(TURN);
      if (this.#others(TURN).length === 0) break;
      this.#leave(TURN);
      this.#enter(WAITING);
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
    this.#leave(WAITING);
    this.#isMine = true;
    this.#since = performance.now();
    this.#touching = setInterval(() => this.#touch(), TOUCH_MS).unref();
  }

  #touch(): void {
    try {
      const now = new Date();
      utimesSync(join(this.#folder, `${this.#name}${TURN}`), now, now);
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
    }
  }

  #enter(what: string): void {
    closeSync(openSync(join(this.#folder, `${this.#name}${what}`), 'w', 0o600));
  }

  #leave(what: string): void {
    rmSync(join(this.#folder, `${this.#name}${what}`), { force: true });
  }

  #others(what: string): string[] {
    return readdirSync(this.#folder).filter((name) => {
      if (!name.endsWith(what) || name.startsWith(this.#name)) return false;
      const [pid = '', started = '', , space = ''] = name.slice(0, -what.length).split('-');
      const state = stateOfProcess({ pid: Number(pid), started, space });
      if (state === 'unknown' ? this.#wasTouched(name) : state === 'runs') return true;
      rmSync(join(this.#folder, name), { force: true });
      return false;
    });
  }

  #wasTouched(name: string): boolean {
    const stat = lstatSync(join(this.#folder, name), { throwIfNoEntry: false });
    return stat !== undefined && Date.now() - stat.mtimeMs < UNTOUCHED_MS;
  }
}

const TURN = '.turn';
const WAITING = '.waiting';
