/**
 * Without characters that nobody sees: they turn the direction of writing, carry words past a reader, or hide one word
 * in another. One joiner or variation mark stays where it stands alone: emoji, Persian and Indian writing need it.
 */
export function seenText(text: string): string {
  if (!ANY_UNSEEN.test(text)) return text;
  return text.replace(UNSEEN, (run) => (NEEDED.has(run) ? run : ''));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]+/gu;
const ANY_UNSEEN = new RegExp(UNSEEN.source, 'u');
const NEEDED = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f', '\ufe0f\u200d']);
