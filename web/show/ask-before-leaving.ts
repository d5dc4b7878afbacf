/** Leaving the page asks first while something would be lost with it. Returns how to stop. */
export function askBeforeLeaving(hasSomething: () => boolean): () => void {
  const onLeaving = (event: BeforeUnloadEvent) => {
    if (hasSomething()) event.preventDefault();
  };
  window.addEventListener('beforeunload', onLeaving);
  return () => window.removeEventListener('beforeunload', onLeaving);
}
