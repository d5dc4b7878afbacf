import { diffText } from '../../kernel/text/diff-text.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { textOf } from './staged-text.ts';
import type { EditedTexts } from './to-changes.ts';

const MAX_DIFF_CHARACTERS = 20_000;

export interface KeptDiff {
  readonly path: string;
  readonly text: string;
}

/** Diffs of changed texts as they are kept, edits of a person included, as far as there is room for them. */
export async function keptDiffs(
  stage: Stage,
  kept: readonly ClassifiedChange[],
  texts: EditedTexts,
): Promise<KeptDiff[]> {
  const diffs: KeptDiff[] = [];
  let room = MAX_DIFF_CHARACTERS;
  const yielder = createYielder();
  for (const change of kept) {
    if (change.kind !== 'modified' || change.class === 'repository') continue;
    const before = await textOf(stage, change, 'before');
    const after = texts.get(change.path) ?? (await textOf(stage, change, 'after'));
    if (before === null || after === null) continue;
    const { text } = diffText(before, after);
    if (yielder.isDue()) await yielder.pause();
    if (text === '') continue;
    if (text.length > room) break;
    room -= text.length;
    diffs.push({ path: change.path, text });
  }
  return diffs;
}
