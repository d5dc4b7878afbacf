import { hasInvisible, invisibleSet } from '../../kernel/text/invisible.ts';

/**
 * Removes invisible characters, which reverse the writing direction or hide text from a reader. A single joiner or
 * variation selector stays: emoji, Persian and Indian scripts need it.
 */
export function visibleText(text: string): string {
  if (!hasInvisible(text, INVISIBLE)) return text;
  return text.replace(RUNS, (run) => (KEPT_ALONE.has(run) ? run : ''));
}

const INVISIBLE = invisibleSet(['ignorable', 'control', 'annotation'], '\\t\\n\\r');
const RUNS = new RegExp(`(?:${INVISIBLE.source})+`, 'gu');
const KEPT_ALONE = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f', '\ufe0f\u200d']);
