/** Thrown through a call that must end now. Not an Error: nobody reads its stack, and it is made on hot paths. */
export class Interruption {
  readonly why: 'timeout' | 'cancelled';

  constructor(why: 'timeout' | 'cancelled') {
    this.why = why;
  }
}

/** Timers beyond this fire at once, so this is as long as a wait can be. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The work's own result, or an Interruption if the limit passes or the caller cancels first. What the work does
 * later is ignored, also a rejection.
 */
export function interruptible<T>(work: Promise<T>, limitMs: number | undefined, cancelled?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = limitMs === undefined ? undefined : setTimeout(stop, Math.min(limitMs, LONGEST_TIMER_MS), 'timeout');
    const cancel = cancelled && (() => stop('cancelled'));
    if (cancel) cancelled.addEventListener('abort', cancel, { once: true });
    if (cancelled?.aborted) stop('cancelled');
    work.then(
      (value) => {
        cleanUp();
        resolve(value);
      },
      (error) => {
        cleanUp();
        reject(error);
      },
    );

    function stop(why: 'timeout' | 'cancelled') {
      cleanUp();
      reject(new Interruption(why));
    }
    function cleanUp() {
      clearTimeout(timer);
      if (cancel) cancelled?.removeEventListener('abort', cancel);
    }
  });
}
