import type { ChangeItem } from '../../kernel/call/approval.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import { describeGroups } from '../../kernel/tool/path-groups.ts';
import { changesDiffs, paintDiffLine } from '../approvals/changes-lines.ts';
import type { Cli } from '../cli.ts';
import { keptLine } from '../text/kept-changes.ts';
import { harmless } from '../text/style.ts';

const MAX_DIFF_LINES = 40;

/** The diff of one changed file, as the call that kept the changes recorded it. */
export interface KeptDiff {
  readonly path: string;
  readonly text: string;
}

/** The diffs in the value of the call that kept the changes of a command; none in every other value. */
export function keptDiffsIn(value: unknown): readonly KeptDiff[] {
  const { diffs } = (value ?? {}) as { diffs?: readonly KeptDiff[] };
  return Array.isArray(diffs) ? diffs : [];
}

/**
 * The effect of a command: how much changed and what became of it, all that was deleted, the first lines of the diffs as they
 * were kept or would have been, and how to undo it. Nothing for the value of another call, and where nothing changed.
 */
export function effectLines(
  { words, style }: Pick<Cli, 'words' | 'style'>,
  { callId, value, keptDiffs }: { callId: string; value: unknown; keptDiffs: readonly KeptDiff[] },
): string[] {
  const { changed } = (value ?? {}) as { changed?: KeptChanges | null };
  if (typeof changed !== 'object' || changed === null || !('state' in changed)) return [];
  const { state, deleted = [], notKept = [], total = 0 } = changed;
  if (state === 'nothing changed') return [];
  const gone = deleted.length === 0 ? [] : [words.deletedPaths(describeGroups(deleted))];
  const shown: readonly KeptDiff[] = state === 'discarded' ? notKept : keptDiffs;
  const items = shown.map(({ path, text }): Pick<ChangeItem, 'path' | 'diff'> => ({ path, diff: text }));
  const diffs = changesDiffs(items, words);
  const more = diffs.length > MAX_DIFF_LINES ? [words.moreLines(diffs.length - MAX_DIFF_LINES)] : [];
  // Collected changes are not in the workspace yet.
  const undo = total > 0 && state !== 'collected' ? [style.dim(words.nextUndo(harmless(callId)))] : [];
  return [
    ...[keptLine(changed, words), ...gone].map(harmless),
    ...diffs.slice(0, MAX_DIFF_LINES).map((line) => paintDiffLine(line, style)),
    ...more,
    ...undo,
  ];
}
