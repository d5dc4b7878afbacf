/** Whether an input method handles the key, as Enter then chooses a word. Some browsers report it only by code 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
