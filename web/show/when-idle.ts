/** For what will be needed soon: it does not stand in the way of what is needed now. Returns how to give it up. */
export function whenIdle(work: () => void): () => void {
  const id = requestIdleCallback(work, { timeout: 2000 });
  return () => cancelIdleCallback(id);
}
