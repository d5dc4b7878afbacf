import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, startOf } from './process-start.ts';

/** A process that has its turn keeps it so long after its last change, so that a burst of changes takes it once. */
const KEEP_MS = 50;
/** However busy it is, it looks after so long whether others wait. */
const LONGEST_MS = 200;
const [SHORTEST_WAIT_MS, LONGEST_WAIT_MS] = [2, 20];

/**
 * Processes that share a journal change a workspace one after the other. Whoever wants its turn leaves a file with its
 * own name and looks around: if nobody else who lives has one, the turn is its; else it takes its file away and tries
 * again. Two that come together may both step back, never both go on. Files of the dead count for nothing.
 */
export class Turns {
  readonly #folder: string;
  readonly #name: string;
  #isMine = false;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, root: string) {
    this.#folder = join(folder, 'turns', Buffer.from(root).toString('base64url').slice(-120) || 'root');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#name = `${process.pid}-${startOf(process.pid) ?? ''}-${randomBytes(6).toString('hex')}`;
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
      const [pid = '', started = ''] = name.split('-');
      if (isAlive({ pid: Number(pid), started })) return true;
      rmSync(join(this.#folder, name), { force: true });
      return false;
    });
  }
}

const TURN = '.turn';
const WAITING = '.waiting';
