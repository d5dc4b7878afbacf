import type { PreviewBlock } from '../../kernel/call/approval.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import type { AppliedChange } from '../../kernel/world/workspace.ts';

const MAX_NAMED = 1000;

/** Shows rehearsed changes: one sentence and one diff for each. */
export function previewOfChanges(applied: readonly AppliedChange[]): PreviewBlock[] {
  return applied.flatMap((change) => {
    const text: PreviewBlock = { kind: 'text', text: sentenceOf(change), truncated: false };
    const diff = diffOf(change);
    return diff === '' ? [text] : [text, { kind: 'diff', text: diff, truncated: false }];
  });
}

function sentenceOf(change: AppliedChange): string {
  switch (change.kind) {
    case 'write':
      return `Would ${change.created ? 'create' : 'overwrite'} ${change.path} (${change.size} bytes).`;
    case 'take':
      return `Would ${change.created ? 'create' : 'change'} ${change.path}.`;
    case 'mode':
      return `Would change the permissions of ${change.path} to ${change.mode.toString(8)}.`;
    case 'move':
      return `Would move ${change.from} to ${change.to}${change.replaced ? ' and replace the existing file' : ''}.`;
    case 'delete':
      return `Would delete:\n${namesIn(change.deleted)}`;
  }
}

function namesIn(paths: readonly string[]): string {
  const rest = paths.length - MAX_NAMED;
  return paths.slice(0, MAX_NAMED).join('\n') + (rest > 0 ? `\n[${rest} more entries]` : '');
}

function diffOf(change: AppliedChange): string {
  if (change.kind !== 'write' || change.after === null) return '';
  if (change.before === null) return change.created ? diffText('', change.after).text : '';
  return diffText(change.before, change.after).text;
}
