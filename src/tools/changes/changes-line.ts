import { oneLine } from '../../kernel/text/visible.ts';
import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';
import { describeGroups, groupPaths, type PathGroup } from '../../kernel/tool/path-groups.ts';

const MAX_NAMED = 20;
/** Folders that stand for deletions or protected files, where these are more. */
const MAX_GROUPS = 30;

/**
 * For the model: the files that a command changed, and whether they were kept. All deletions come first, then all protected
 * files, by folder where they are many.
 */
export function changesLine(kept: KeptChanges | null): string[] {
  if (kept === null || kept.state === 'nothing changed') return [];
  const { counts, state } = kept;
  const parts = [
    ...groups('deleted', kept.deleted),
    ...groups('protected', kept.protected),
    ...names('modified', kept.modified, counts.modified),
    ...names('created', kept.created, counts.created),
    ...(counts.repository > 0 ? ['the git repository'] : []),
  ];
  const isLost = state === 'discarded';
  const files = parts.length === 0 ? '' : `${isLost ? 'would have ' : ''}${parts.join('; ')}. `;
  return [`[Files: ${files}${isLost ? whyNot(kept) : `${SAID[state]}${afterSpace(kept.reason)}`}]`];
}

const SAID = {
  kept: 'Kept.',
  'partly kept': 'Kept in part.',
  collected:
    'Collected: later calls of this session see them, and they come into the workspace when a person keeps them.',
};

function whyNot({ reason }: KeptChanges): string {
  if (reason === null) return 'Not kept: the workspace is as it was.';
  return reason.startsWith('Not kept: ') ? reason : `Not kept: ${reason}`;
}

function afterSpace(reason: string | null): string {
  return reason === null ? '' : ` ${reason}`;
}

function groups(kind: string, paths: readonly PathGroup[]): string[] {
  return paths.length === 0 ? [] : [`${kind} ${describeGroups(groupPaths(paths, MAX_GROUPS))}`];
}

function names(kind: string, paths: readonly string[], count: number): string[] {
  if (paths.length === 0) return [];
  const more = count > MAX_NAMED ? ` and ${count - MAX_NAMED} more` : '';
  return [`${kind} ${paths.slice(0, MAX_NAMED).map(oneLine).join(', ')}${more}`];
}
