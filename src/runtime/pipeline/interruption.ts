import { setMaxListeners } from 'node:events';

/** Thrown to end a call at once. Not an Error: its stack is never read, and it is created on hot paths. */
export class Interruption {
  readonly why: 'timeout' | 'cancelled';
  readonly #ours = true;

  constructor(why: 'timeout' | 'cancelled') {
    this.why = why;
  }

  /** Not `instanceof`: a thrown proxy may throw on inspection. */
  static is(thrown: unknown): thrown is Interruption {
    return typeof thrown === 'object' && thrown !== null && #ours in thrown;
  }
}

/**
 * Resolves with the result of the work, or rejects with an Interruption if the limit passes or the caller cancels
 * first. A later result or rejection of the work is ignored.
 */
export function interruptible<T>(work: Promise<T>, limitMs: number | undefined, cancelled?: AbortSignal): Promise<T> {
  return new BoundedWait(limitMs, cancelled).until(work);
}

/** A longer timer would fire at once, so a longer wait takes several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One wait and the two ways to end it early. Its clock can be stopped while somebody else is waited for. */
export class BoundedWait {
  readonly #cancelled: AbortSignal | undefined;
  #reject: ((reason: Interruption) => void) | undefined;
  #cancel: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The time that is left, without what passed since the timer started. */
  #leftMs: number | undefined;
  #startedAt = 0;
  #pauses = 0;

  constructor(limitMs: number | undefined, cancelled: AbortSignal | undefined) {
    this.#leftMs = limitMs;
    this.#cancelled = cancelled;
  }

  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#begin(reject);
      // `then` of a foreign promise may throw; that of a native one does not.
      Promise.resolve(work).then(
        (value) => {
          this.end();
          resolve(value);
        },
        (error) => {
          this.end();
          reject(error);
        },
      );
    });
  }

  #begin(reject: (reason: Interruption) => void): void {
    this.#reject = reject;
    if (this.#leftMs !== undefined) startLater(this);
    const cancelled = this.#cancelled;
    if (cancelled === undefined) return;
    this.#cancel = () => this.#stop('cancelled');
    // Many calls may share one signal; this is no leak.
    setMaxListeners(0, cancelled);
    cancelled.addEventListener('abort', this.#cancel, { once: true });
    if (cancelled.aborted) this.#cancel();
  }

  startTimer(): void {
    const left = this.#leftMs ?? 0;
    const next = Math.min(left, MAX_TIMER_MS);
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => {
      if (left === next) return this.#stop('timeout');
      this.#leftMs = left - next;
      this.startTimer();
    }, next);
  }

  pause(): void {
    if (this.#pauses++ > 0 || this.#leftMs === undefined) return;
    fresh.delete(this);
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#startedAt));
  }

  resume(): void {
    if (--this.#pauses > 0 || this.#leftMs === undefined || this.#reject === undefined) return;
    this.startTimer();
  }

  end(): void {
    fresh.delete(this);
    clearTimeout(this.#timer);
    if (this.#cancel !== undefined) this.#cancelled?.removeEventListener('abort', this.#cancel);
    this.#reject = undefined;
  }

  #stop(why: Interruption['why']): void {
    const reject = this.#reject;
    this.end();
    reject?.(new Interruption(why));
  }
}

/**
 * Waits younger than one turn of the event loop. Most end before a timer is needed; one for each would cost half the
 * call.
 */
const fresh = new Set<BoundedWait>();
let scheduled = false;

function startLater(wait: BoundedWait): void {
  fresh.add(wait);
  if (scheduled) return;
  scheduled = true;
  setImmediate(() => {
    scheduled = false;
    for (const survivor of fresh) survivor.startTimer();
    fresh.clear();
  });
}
