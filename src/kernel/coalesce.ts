/**
 * Runs `work` at most once at a time. Requests made while it runs share one further run, which starts after the present
 * one, also when that one fails: every promise settles with a run that began after the request.
 */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
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
