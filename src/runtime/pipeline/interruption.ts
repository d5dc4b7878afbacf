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
  return new Promise((resolve, reject) => {
    const wait = new BoundedWait(reject, limitMs, cancelled);
    // `then` of a foreign promise may throw; that of a native one does not.
    Promise.resolve(work).then(
      (value) => {
        wait.end();
        resolve(value);
      },
      (error) => {
        wait.end();
        reject(error);
      },
    );
  });
}

/** A longer timer would fire at once, so a longer wait takes several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One wait and the two ways to end it early. */
class BoundedWait {
  readonly #reject: (reason: Interruption) => void;
  readonly #limitMs: number | undefined;
  readonly #cancelled: AbortSignal | undefined;
  readonly #cancel: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(reject: (reason: Interruption) => void, limitMs?: number, cancelled?: AbortSignal) {
    this.#reject = reject;
    this.#limitMs = limitMs;
    this.#cancelled = cancelled;
    if (limitMs !== undefined) startLater(this);
    if (cancelled === undefined) return;
    this.#cancel = () => this.#stop('cancelled');
    // Many calls may share one signal; this is no leak.
    setMaxListeners(0, cancelled);
    cancelled.addEventListener('abort', this.#cancel, { once: true });
    if (cancelled.aborted) this.#cancel();
  }

  startTimer(leftMs = this.#limitMs ?? 0): void {
    const next = Math.min(leftMs, MAX_TIMER_MS);
    const after = () => (leftMs > next ? this.startTimer(leftMs - next) : this.#stop('timeout'));
    this.#timer = setTimeout(after, next);
  }

  end(): void {
    fresh.delete(this);
    clearTimeout(this.#timer);
    if (this.#cancel !== undefined) this.#cancelled?.removeEventListener('abort', this.#cancel);
  }

  #stop(why: Interruption['why']): void {
    this.end();
    this.#reject(new Interruption(why));
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
