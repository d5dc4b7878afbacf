/** Leaving the page asks first while something would be lost with it. */
export function askBeforeLeaving(hasSomething: () => boolean): void {
  window.addEventListener('beforeunload', (event) => {
    if (hasSomething()) event.preventDefault();
  });
}
