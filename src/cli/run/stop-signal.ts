/** Resolves with the first signal to stop; the next one is impatience. */
export function stopSignal(again: () => void): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stopping) again();
        stopping = true;
        resolve();
      });
    }
  });
}
