import { oneLine } from '../../kernel/text/visible.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import { describeGroups } from '../../kernel/tool/path-groups.ts';
import { harmless } from './style.ts';
import type { Words } from './words.ts';

const MAX_DIFF_LINES = 40;

/** `Kept: 3 changed, 12 new`, then why something was left out. */
export function keptLine(kept: KeptChanges, words: Words): string {
  const { state, reason } = kept;
  const counts = words.changeCounts(kept.counts);
  const what = counts === '' ? '' : `: ${counts}`;
  return `${words.keptStates[state]}${what}${reason === null ? '' : `. ${words.said(reason)}`}`;
}

/**
 * The same for the value of a command, with all that was deleted and the first lines of diffs that were not kept; nothing for every
 * other value, and where nothing changed.
 */
export function changedLines(value: unknown, words: Words): string[] {
  const { changed } = (value ?? {}) as { changed?: KeptChanges | null };
  if (typeof changed !== 'object' || changed === null || !('state' in changed)) return [];
  const { state, deleted = [], notKept = [] } = changed;
  if (state === 'nothing changed') return [];
  const gone = deleted.length === 0 ? [] : [words.deletedPaths(describeGroups(deleted))];
  const diffs = notKept.flatMap(({ path, text }) => [`--- ${oneLine(path)}`, ...text.trimEnd().split('\n')]);
  const more = diffs.length > MAX_DIFF_LINES ? [words.moreLines(diffs.length - MAX_DIFF_LINES)] : [];
  return [keptLine(changed, words), ...gone, ...diffs.slice(0, MAX_DIFF_LINES), ...more].map(harmless);
}
