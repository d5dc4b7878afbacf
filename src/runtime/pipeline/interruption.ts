import { setMaxListeners } from 'node:events';

/** Thrown through a call that must end now. Not an Error: nobody reads its stack, and it is made on hot paths. */
export class Interruption {
  readonly why: 'timeout' | 'cancelled';
  readonly #ours = true;

  constructor(why: 'timeout' | 'cancelled') {
    this.why = why;
  }

  /** Not `instanceof`: what is thrown may be a proxy that throws when it is looked at. */
  static is(thrown: unknown): thrown is Interruption {
    return typeof thrown === 'object' && thrown !== null && #ours in thrown;
  }
}

/**
 * The work's own result, or an Interruption if the limit passes or the caller cancels first. What the work does
 * later is ignored, also a rejection.
 */
export function interruptible<T>(work: Promise<T>, limitMs: number | undefined, cancelled?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const wait = new Wait(reject, limitMs, cancelled);
    // A promise of another kind may throw when it is asked; ours does not.
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

/** Timers beyond this fire at once, so a longer wait takes several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One thing that is waited for, and the two ways in which waiting can end early. */
class Wait {
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
    // Many calls may share one signal; that is no leak.
    setMaxListeners(0, cancelled);
    cancelled.addEventListener('abort', this.#cancel, { once: true });
    if (cancelled.aborted) this.#cancel();
  }

  startTimer(leftMs = this.#limitMs ?? 0): void {
    const next = Math.min(leftMs, LONGEST_TIMER_MS);
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

/** Waits that have not outlived a turn of the event loop. Most never do, and a timer for each would cost half the call. */
const fresh = new Set<Wait>();
let scheduled = false;

function startLater(wait: Wait): void {
  fresh.add(wait);
  if (scheduled) return;
  scheduled = true;
  setImmediate(() => {
    scheduled = false;
    for (const survivor of fresh) survivor.startTimer();
    fresh.clear();
  });
}
