/** Lets other work run in between: the event loop is blocked for one slice of time at most. */
export interface Yielder {
  /** True once the present slice of time is used up. */
  isDue(): boolean;
  /** Lets the event loop turn, then starts the next slice. */
  pause(): Promise<void>;
}

const SLICE_MS = 8;

/** Use as `if (yielder.isDue()) await yielder.pause()` in a loop, so that nothing is awaited before it is due. */
export function createYielder(sliceMs = SLICE_MS): Yielder {
  let start = performance.now();
  return {
    isDue: () => performance.now() - start > sliceMs,
    async pause() {
      await new Promise((resolve) => setImmediate(resolve));
      start = performance.now();
    },
  };
}
