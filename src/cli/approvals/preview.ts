import type { PreviewBlock } from '../../kernel/call/approval.ts';
import { harmless } from '../text/style.ts';
import type { Words } from '../text/words.ts';
import { changesDiffs, changesList } from './changes-lines.ts';

/** Formats the preview of a call as terminal lines (diff, command, address, changes or text), at most `most` of them. */
export function previewLines(preview: readonly PreviewBlock[], words: Words, most = Infinity): string[] {
  const lines = preview.flatMap((block) => linesOf(block, words));
  const left = lines.length - most;
  return left <= 0 ? lines : [...lines.slice(0, most), words.moreLines(left)];
}

function linesOf(block: PreviewBlock, words: Words): string[] {
  if (block.kind === 'changes') return [...changesList(block, words), ...changesDiffs(block.items, words)];
  return harmless(textOf(block)).replace(/\n$/, '').split('\n');
}

function textOf(block: Exclude<PreviewBlock, { kind: 'changes' }>): string {
  if (block.kind === 'command') return `$ ${block.command}`;
  return block.kind === 'url' ? `${block.method} ${block.url}` : block.text;
}
