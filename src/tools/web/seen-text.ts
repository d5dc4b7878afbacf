/**
 * Without characters that nobody sees: they turn the direction of writing, carry words past a reader, or hide one word
 * in another. One joiner or variation mark stays where it stands alone: emoji, Persian and Indian writing need it.
 */
export function seenText(text: string): string {
  return text.replace(UNSEEN, (run) => (NEEDED.has(run) ? run : ''));
}

const UNSEEN = /(?:(?![\n\t\r])[\p{Default_Ignorable_Code_Point}\p{Cc}\ufff9-\ufffb])+/gu;
const NEEDED = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f', '\ufe0f\u200d']);
