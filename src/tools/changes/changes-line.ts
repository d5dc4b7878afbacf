import type { KeptChanges } from '../../kernel/tool/kept-changes.ts';

const MAX_NAMED = 20;

/** For the model: which files a command changed, and whether they were kept. */
export function changesLine(kept: KeptChanges | null): string[] {
  if (kept === null || kept.state === 'nothing changed') return [];
  const kinds = (['created', 'modified', 'deleted'] as const).flatMap((kind) => {
    const paths = kept[kind];
    if (paths.length === 0) return [];
    const more = kept.counts[kind] > MAX_NAMED ? ` and ${kept.counts[kind] - MAX_NAMED} more` : '';
    return [`${kind} ${paths.slice(0, MAX_NAMED).join(', ')}${more}`];
  });
  if (kept.counts.repository > 0) kinds.push('the git repository');
  const files = kinds.length === 0 ? '' : `${kinds.join('; ')}. `;
  return [`[Files: ${files}${SAID[kept.state]}${kept.reason === null ? '' : ` ${kept.reason}`}]`];
}

const SAID = {
  kept: 'Kept.',
  'partly kept': 'Kept in part.',
  collected:
    'Collected: later calls of this session see them, and they come into the workspace when a person keeps them.',
  discarded: 'Not kept: the workspace is as it was.',
};
