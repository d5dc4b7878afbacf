import { createTwoFilesPatch } from 'diff';

const CONTEXT = 3;
const MAX_LINES = 200;
const TIME_MS = 500;

export interface TextDiff {
  /** Unified, without headers; truncated to about 200 lines. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** Compares two texts. Only the part that differs is compared, so a large file costs little. */
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

/** Returns undefined when there is too much to compare. */
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

/** Binary search with whole slices, which the engine compares far faster than single characters. */
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

/**
 * Makes the hunk of a change that replaces one block of lines by another without a common line: there is nothing to
 * align,
 * and this costs a hundredth of a comparison. Returns undefined for any other change.
 */
export function replacedBlock(before: string, after: string, context: number): string[] | undefined {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let above = 0;
  while (above < shorter && old[above] === fresh[above]) above++;
  let below = 0;
  while (below < shorter - above && old.at(-1 - below) === fresh.at(-1 - below)) below++;
  const removed = old.slice(above, old.length - below);
  const added = fresh.slice(above, fresh.length - below);
  const kept = new Set(removed);
  if (added.some((line) => kept.has(line))) return undefined;

  const first = Math.max(0, above - context);
  const last = Math.min(below, context);
  const same = above - first + last;
  return [
    `@@ -${range(first, removed.length + same)} +${range(first, added.length + same)} @@`,
    ...old.slice(first, above).flatMap((line) => marked(' ', line)),
    ...removed.flatMap((line) => marked('-', line)),
    ...added.flatMap((line) => marked('+', line)),
    ...old.slice(old.length - below, old.length - below + last).flatMap((line) => marked(' ', line)),
  ];
}

/** Lines with their endings; the last one may have none. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** An empty range is given by the line before it. */
function range(first: number, length: number): string {
  return `${length === 0 ? first : first + 1},${length}`;
}

function marked(mark: string, line: string): string[] {
  return line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file'];
}
