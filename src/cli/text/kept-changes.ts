import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import type { Words } from './words.ts';

/** `Kept: 3 changed, 12 new`, then why something was left out. */
export function keptLine(kept: KeptChanges, words: Words): string {
  const { state, reason } = kept;
  const counts = words.changeCounts(kept.counts);
  const what = counts === '' ? '' : `: ${counts}`;
  return `${words.keptStates[state]}${what}${reason === null ? '' : `. ${words.said(reason)}`}`;
}
