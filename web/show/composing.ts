/** Whether an input method has the key: Enter then chooses a word. Some browsers tell only by the old code. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
