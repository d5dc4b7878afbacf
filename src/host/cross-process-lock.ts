import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from './errno.ts';
import { isAlive, isElsewhere, ownMark } from '../workspace/process-start.ts';

/** A process that has its turn keeps it so long after its last change, so that a burst of changes takes it once. */
const KEEP_MS = 50;
/** However busy it is, it looks after so long whether others wait. */
const LONGEST_MS = 200;
/** Whoever has its turn touches its file so often, unless it is busy with one long step. */
const TOUCH_MS = 1000;
/** Longer than such a step takes: a file of another container that was not touched for so long is of one that is gone. */
const UNTOUCHED_MS = 120_000;
const [SHORTEST_WAIT_MS, LONGEST_WAIT_MS] = [2, 20];

/**
 * Processes that share a journal change a workspace one after the other. Whoever wants its turn leaves a file with its
 * own name and looks around: if nobody else who lives has one, the turn is its; else it takes its file away and tries
 * again. Two that come together may both step back, never both go on. Files of the dead count for nothing; of another
 * container or machine, files that were not touched for long.
 */
export class Turns {
  readonly #folder: string;
  readonly #name: string;
  #isMine = false;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #touching: NodeJS.Timeout | undefined;

  constructor(folder: string, root: string) {
    this.#folder = join(folder, 'turns', Buffer.from(root).toString('base64url').slice(-120) || 'root');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const { pid, started, space } = ownMark();
    this.#name = `${pid}-${started}-${randomBytes(6).toString('hex')}-${space}`;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    if (!this.#isMine) await this.#take();
    try {
      return await work();
    } finally {
      if (this.#isAwaited()) this.give();
      else this.#timer = setTimeout(() => this.give(), KEEP_MS).unref();
    }
  }

  #isAwaited(): boolean {
    if (performance.now() - this.#since <= LONGEST_MS) return false;
    this.#since = performance.now();
    return this.#others(WAITING).length > 0;
  }

  /** The turn is anybody's again. */
  give(): void {
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
      const mark = { pid: Number(pid), started, space };
      if (isElsewhere(mark) ? this.#wasTouched(name) : isAlive(mark)) return true;
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
