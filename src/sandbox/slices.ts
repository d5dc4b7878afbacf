/** Work that may take longer than one turn of the event loop may. */
export interface Slices {
  /** Whether other work should run now. */
  isOver(): boolean;
  next(): Promise<void>;
}

const SLICE_MS = 8;

export function createSlices(): Slices {
  let start = performance.now();
  return {
    isOver: () => performance.now() - start > SLICE_MS,
    async next() {
      await new Promise((resolve) => setImmediate(resolve));
      start = performance.now();
    },
  };
}
