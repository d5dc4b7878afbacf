import type { Listing } from '../../kernel/world/workspace.ts';

const MARK = { file: '', directory: '/', symlink: '@', other: '|' } as const;

/** Formats one entry a line: folders end with /, symlinks with @, pipes and the like with |; files have a size. */
export function listingText({ entries, complete }: Listing): string {
  if (entries.length === 0) return '(empty)';
  const lines = entries.map(({ name, type, size }) => (type === 'file' ? `${name}  ${size}` : `${name}${MARK[type]}`));
  return lines.join('\n') + (complete ? '' : `\n[Only the first ${entries.length} entries are shown.]`);
}
