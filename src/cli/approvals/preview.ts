import type { PreviewBlock } from '../../kernel/call/approval.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';
import { changesDiffs, changesList, paintDiffLine } from './changes-lines.ts';

/**
 * Formats the preview of a call as terminal lines (command, coloured diff, address, changes or text), at most `most` of
 * them. Indentation stays.
 */
export function previewLines(
  preview: readonly PreviewBlock[],
  { words, style }: Pick<Cli, 'words' | 'style'>,
  most = Infinity,
): string[] {
  const lines = preview.flatMap((block) => linesOf(block, { words, style }));
  const left = lines.length - most;
  return left <= 0 ? lines : [...lines.slice(0, most), style.dim(words.moreLines(left))];
}

function linesOf(block: PreviewBlock, { words, style }: Pick<Cli, 'words' | 'style'>): string[] {
  const painted = (line: string) => paintDiffLine(line, style);
  if (block.kind === 'changes') return [...changesList(block, words), ...changesDiffs(block.items, words).map(painted)];
  const lines = harmless(textOf(block)).replace(/\n$/, '').split('\n');
  return block.kind === 'diff' ? lines.map(painted) : lines;
}

function textOf(block: Exclude<PreviewBlock, { kind: 'changes' }>): string {
  if (block.kind === 'command') return `$ ${block.command}`;
  return block.kind === 'url' ? `${block.method} ${block.url}` : block.text;
}
