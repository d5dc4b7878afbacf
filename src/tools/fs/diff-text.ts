import { createTwoFilesPatch } from 'diff';
import { replacedBlock } from './replaced-block.ts';

const CONTEXT = 3;
const MAX_LINES = 200;
const TIME_MS = 500;

export interface TextDiff {
  /** Unified, without headers; cut to some 200 lines. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** What changed from one text to another. Only the part that differs is compared, so a large file costs little. */
export function diffText(before: string, after: string): TextDiff {
  if (before === after) return { text: '', added: 0, removed: 0 };
  const start = lineStart(before, commonPrefix(before, after), CONTEXT);
  const same = commonSuffix(before, after, start);
  const [oldEnd, newEnd] = [lineEnd(before, before.length - same), lineEnd(after, after.length - same)];
  const [oldPart, newPart] = [before.slice(start, oldEnd), after.slice(start, newEnd)];
  const lines = replacedBlock(oldPart, newPart, CONTEXT) ?? compared(oldPart, newPart);
  if (lines === undefined)
    return { text: '[The texts differ too much for a diff.]', added: count(newPart), removed: count(oldPart) };
  const shift = count(before.slice(0, start));
  return {
    text: bounded(lines.map((line) => shifted(line, shift))),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

/** Undefined when there is too much to compare. */
function compared(before: string, after: string): string[] | undefined {
  const patch = createTwoFilesPatch('', '', before, after, '', '', { context: CONTEXT, timeout: TIME_MS });
  if (patch === undefined) return undefined;
  const lines = patch.slice(Math.max(0, patch.indexOf('@@ '))).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function bounded(lines: readonly string[]): string {
  const rest = lines.length - MAX_LINES;
  return lines.slice(0, MAX_LINES).join('\n') + (rest > 0 ? `\n[${rest} more lines of the diff]` : '');
}

function shifted(line: string, by: number): string {
  const head = /^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@/.exec(line);
  if (head === null) return line;
  const [, from = '0', fromCount = '', to = '0', toCount = ''] = head;
  return `@@ -${Number(from) + by}${fromCount} +${Number(to) + by}${toCount} @@`;
}

function count(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** By comparing halves as wholes: the engine does that far quicker than we could character by character. */
function commonPrefix(a: string, b: string): number {
  let [low, high] = [0, Math.min(a.length, b.length)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function commonSuffix(a: string, b: string, notBefore: number): number {
  let [low, high] = [0, Math.min(a.length, b.length) - notBefore];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(a.length - middle, a.length - low) === b.slice(b.length - middle, b.length - low)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function lineStart(text: string, at: number, above: number): number {
  let start = text.lastIndexOf('\n', at - 1) + 1;
  if (at === 0) start = 0;
  for (let i = 0; i < above && start > 0; i++) start = start < 2 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
  return start;
}

function lineEnd(text: string, at: number): number {
  let end = at;
  for (let i = 0; i <= CONTEXT && end < text.length; i++) {
    const newline = text.indexOf('\n', end);
    end = newline < 0 ? text.length : newline + 1;
  }
  return end;
}
