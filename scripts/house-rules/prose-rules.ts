import ts from 'typescript';
import type { SourceFile, SourceTree } from './source-tree.ts';
import type { Violation } from './violation.ts';

const GUILLEMETS = /[\u00ab\u00bb]/g;
const SENTENCE_WITH_WHAT = /(?:^|[.!?:]["')\u201d\u2019]*\s+)What\s/g;

export function judgeProse({ commented, written }: SourceTree): Violation[] {
  const whats = commented
    .filter(({ text }) => text.includes('What'))
    .map((file): Violation => ({ rule: 'comment begins with What', place: file.path, size: countWhats(file) }));
  const marks = written.map(
    ({ path, text }): Violation => ({ rule: 'guillemets', place: path, size: text.match(GUILLEMETS)?.length ?? 0 }),
  );
  return [...whats, ...marks].filter(({ size }) => size > 0);
}

function countWhats(file: SourceFile): number {
  return comments(file).reduce((sum, comment) => sum + [...comment.matchAll(SENTENCE_WITH_WHAT)].length, 0);
}

/** Each comment as running text: lines of `//` that follow each other are one comment. */
function comments({ text, tree }: SourceFile): string[] {
  const source = tree();
  const ranges = new Map<number, ts.CommentRange>();
  visit(source);
  const inOrder = [...ranges.values()].sort((one, other) => one.pos - other.pos);
  const pieces: { end: number; content: string }[] = [];
  for (const { pos, end, kind } of inOrder) {
    const content = contentOf(text.slice(pos, end));
    const last = pieces.at(-1);
    const isNextLine = last !== undefined && /^\r?\n[ \t]*$/.test(text.slice(last.end, pos));
    const continues = isNextLine && kind === ts.SyntaxKind.SingleLineCommentTrivia;
    if (continues) pieces.splice(-1, 1, { end, content: `${last.content} ${content}` });
    else pieces.push({ end, content });
  }
  return pieces.map(({ content }) => content);

  function visit(node: ts.Node): void {
    if (node.kind === ts.SyntaxKind.JsxText) return;
    const around = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const range of around) ranges.set(range.pos, range);
    for (const child of node.getChildren(source)) visit(child);
  }
}

function contentOf(comment: string): string {
  return comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(\/\/+|\*)?\s*/, ''))
    .join(' ')
    .trim();
}
