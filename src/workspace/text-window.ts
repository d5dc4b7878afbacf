import type { LineWindow, WindowQuery } from '../kernel/world/workspace.ts';
import { decodeAs } from './read/decode-text.ts';
import type { RawWindow } from './read/line-window.ts';

type Shown = Pick<LineWindow, 'content' | 'first' | 'lines' | 'totalLines' | 'more' | 'cutLines'>;

/** A window of a text that is in memory. Undefined when the offset lies past the end. */
export function windowOf(text: string, query: WindowQuery): Shown | { totalLines: number } {
  const starts = lineStarts(text);
  const total = starts.length;
  const first = query.offset < 0 ? Math.max(1, total + query.offset + 1) : Math.max(1, query.offset);
  if (first > Math.max(1, total)) return { totalLines: total };
  const pieces: string[] = [];
  let bytes = 0;
  let cutLines = 0;
  let next = first - 1;
  for (; next < total && pieces.length < query.limit && (bytes < query.maxBytes || pieces.length === 0); next++) {
    const line = text.slice(starts[next], starts[next + 1]);
    const piece = cutLine(line, query.maxLineChars);
    if (piece !== line) cutLines++;
    bytes += Buffer.byteLength(piece);
    pieces.push(piece);
  }
  return {
    content: pieces.join(''),
    first,
    lines: pieces.length,
    totalLines: total,
    more: next < total,
    cutLines,
  };
}

/** The same for lines that were read from a large file. */
export function shownWindow(raw: RawWindow, encoding: string, query: WindowQuery): Shown {
  let cutLines = 0;
  const pieces = raw.lines.map(({ bytes, length }) => {
    const line = decodeAs(bytes, encoding);
    const piece = cutLine(line, query.maxLineChars, length);
    if (piece !== line) cutLines++;
    return piece;
  });
  const { first, totalLines, more } = raw;
  return { content: pieces.join(''), first, lines: pieces.length, totalLines, more, cutLines };
}

function lineStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return starts;
}

function cutLine(line: string, maxChars: number, bytes = 0): string {
  const ending = /\r?\n$/.exec(line)?.[0] ?? '';
  const body = line.length - ending.length;
  if (body <= maxChars) return line;
  const end = /[\ud800-\udbff]/.test(line[maxChars - 1] ?? '') ? maxChars - 1 : maxChars;
  const length = bytes > line.length ? `${bytes} bytes` : `${body} characters`;
  return `${line.slice(0, end)}… [line of ${length}, cut]${ending || '\n'}`;
}
