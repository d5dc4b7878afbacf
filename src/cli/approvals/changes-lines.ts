import type { ChangeItem } from '../../kernel/call/approval.ts';
import type { ChangesBlock } from '../../kernel/call/read-selection.ts';
import { oneLine } from '../../kernel/text/visible.ts';
import { harmless, type Style } from '../text/style.ts';
import type { Words } from '../text/words.ts';

const MARKS = { created: 'A', modified: 'M', deleted: 'D', mode: 'M' } as const;

/** The changed paths, one line each, the most serious first; then changes of branches in words. */
export function changesList({ items, total, repository }: ChangesBlock, words: Words): string[] {
  const told = items.reduce((count, { entries = 0, inside = 1 + entries }) => count + inside, 0);
  const lines = items.map((item) => `${MARKS[item.kind]} ${harmless(oneLine(item.path))}${aboutItem(item, words)}`);
  const git = repository.map((line) => `  git: ${harmless(line)}`);
  return [...lines, ...git, ...(total > told ? [words.moreChanges(total - told)] : [])];
}

/** The diffs, each below its path. A protected file comes first and is never left out of a short view. */
export function changesDiffs(
  items: readonly Pick<ChangeItem, 'path' | 'diff' | 'truncated'>[],
  words: Words,
): string[] {
  return items.flatMap(({ path, diff, truncated }) => {
    if (truncated) return [`--- ${harmless(oneLine(path))}: ${words.diffLeftOut}`];
    if (diff === undefined || diff === '') return [];
    return [`--- ${harmless(oneLine(path))}`, ...harmless(diff).replace(/\n$/, '').split('\n')];
  });
}

/** Colours a line of `changesDiffs`. */
export function paintDiffLine(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  return line.startsWith('-') && !line.startsWith('--- ') ? style.red(line) : style.dim(line);
}

function aboutItem(item: ChangeItem, words: Words): string {
  const { added, removed, entries, inside, bytes, leadsTo, reason, loses, overtaken } = item;
  const lines = added === undefined && removed === undefined ? '' : ` +${added ?? 0} −${removed ?? 0}`;
  const size = bytes === undefined ? '' : `${bytes} B`;
  const content =
    inside !== undefined
      ? words.changesInside(inside)
      : entries === undefined
        ? size
        : [words.changeEntries(entries), size].filter(Boolean).join(', ');
  const facts = [
    content,
    leadsTo === undefined ? '' : `→ ${oneLine(leadsTo)}`,
    words.changeClasses[item.class],
    reason === undefined ? '' : words.said(reason),
    loses ? words.changeLoses : '',
    overtaken ? words.changeOvertaken : '',
  ].filter(Boolean);
  return `${lines}${facts.length === 0 ? '' : ` (${harmless(facts.join('; '))})`}`;
}
