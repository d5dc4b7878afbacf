/**
 * Work that never runs twice at once. Asked for while it runs, it runs once more afterwards, however often it was asked
 * for: what is promised is always the end of a run that began after the asking.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  function start(): Promise<T> {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  }
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
