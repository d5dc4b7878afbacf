/** Limits how many runs go on at a time; the rest wait in the order they came. */
export interface Queue {
  /** Resolves to a function that frees the place again. Null when the signal aborted before there was one. */
  enter(signal: AbortSignal | undefined): Promise<(() => void) | null>;
}

export function createQueue(places: number): Queue {
  const waiting: (() => void)[] = [];
  let free = places;

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  }

  function once(): () => void {
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  }

  return {
    async enter(signal) {
      if (signal?.aborted) return null;
      if (free > 0) {
        free--;
        return once();
      }
      return new Promise((resolve) => {
        const admit = () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(once());
        };
        const giveUp = () => {
          waiting.splice(waiting.indexOf(admit), 1);
          resolve(null);
        };
        waiting.push(admit);
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
