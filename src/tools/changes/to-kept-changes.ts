import { oneLine } from '../../kernel/text/visible.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import { nameSome, overtakenNote, summarizeChanges } from '../../kernel/tool/summarize-changes.ts';
import type { ClassifiedChange } from '../../kernel/world/stage.ts';
import type { SelectedChanges } from './select-changes.ts';

/** The outcome of changes of which a part was kept; `edited` are files that a person gave another text. */
export function toKeptChanges({ kept, left }: SelectedChanges, edited: readonly string[]): KeptChanges {
  const notWhole = [
    left.length === 0 ? '' : `Not kept: ${nameSome(left.map(withReason))}.`,
    edited.length === 0 ? '' : `Kept with changes by a person: ${nameSome(edited.map(oneLine))}.`,
  ].filter(Boolean);
  const reasons = [...notWhole, overtakenNote(kept)].filter(Boolean);
  return {
    state: kept.length === 0 ? 'discarded' : notWhole.length === 0 ? 'kept' : 'partly kept',
    ...summarizeChanges(kept.length === 0 ? left : kept),
    total: kept.length,
    reason: reasons.length === 0 ? null : reasons.join(' '),
  };
}

/** A loss that a change would bring is no reason why it was not kept. */
function withReason({ path, reason, loses }: ClassifiedChange): string {
  return reason === undefined || loses ? oneLine(path) : `${oneLine(path)} (${reason})`;
}
