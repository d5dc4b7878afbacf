/** Makes the browser ask before the page is left while something would be lost. Returns a function that ends it. */
export function askBeforeLeaving(hasSomething: () => boolean): () => void {
  const onLeaving = (event: BeforeUnloadEvent) => {
    if (hasSomething()) event.preventDefault();
  };
  window.addEventListener('beforeunload', onLeaving);
  return () => window.removeEventListener('beforeunload', onLeaving);
}
