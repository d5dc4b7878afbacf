/** Resolves with the first stop signal; `again` runs on the next one. */
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
