import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import type { Words } from './words.ts';

/** `Kept: 3 changed, 12 new`, then why something was left out. */
export function keptLine(kept: KeptChanges, words: Words): string {
  const { state, reason } = kept;
  const counts = words.changeCounts(kept.counts);
  const what = counts === '' ? '' : `: ${counts}`;
  return `${words.keptStates[state]}${what}${reason === null ? '' : `. ${words.said(reason)}`}`;
}

/** The same for the value of a command; undefined for every other value, and where nothing changed. */
export function changedLine(value: unknown, words: Words): string | undefined {
  const { changed } = (value ?? {}) as { changed?: KeptChanges | null };
  const isChanged = typeof changed === 'object' && changed !== null && 'state' in changed;
  return isChanged && changed.state !== 'nothing changed' ? keptLine(changed, words) : undefined;
}
