/**
 * Work that many may ask for and one run of which serves them all. What is asked for while it runs may be news to that
 * run, so it gets the next one, shared by all who wait.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  function start(): Promise<T> {
    next = undefined;
    const run = work();
    const done = () => {
      if (running === run) running = undefined;
    };
    running = run;
    run.then(done, done);
    return run;
  }

  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
