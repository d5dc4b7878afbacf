import { fail, ok, type Result } from '../../kernel/result.ts';
import { occurrences } from './occurrences.ts';
import type { Hunk, PatchLine } from './patch.ts';

interface FileLine {
  readonly text: string;
  readonly ending: string;
}

/** Lines that may be compared for all hunks of a file together. */
const MAX_COMPARED_LINES = 50_000_000;
const TOO_MUCH = 'too many hunks for a file of this length; give line numbers, or split the patch.';

interface FileTexts {
  readonly texts: readonly string[];
  /** Without trailing blanks. */
  readonly trimmed: readonly string[];
  /** Returns false when the budget of comparisons is used up. */
  mayLookAt(lines: number): boolean;
}

/** Applies hunks in order. A hunk that matches nowhere, or in several places, fails the whole patch. */
export function applyHunks(original: string, hunks: readonly Hunk[], path: string): Result<string> {
  const lines = split(original);
  const usual = lines[0]?.ending || '\n';
  const out: FileLine[] = [];
  const file = textsOf(lines);
  let at = 0;
  for (const [index, hunk] of hunks.entries()) {
    const old = hunk.lines.filter(({ op }) => op !== '+').map(({ text }) => text);
    const place = locate(file, old, hunk, at);
    if (!place.ok)
      return fail('INVALID_INPUT', `Hunk ${index + 1} of ${path}: ${place.error.message} Nothing was changed.`);
    for (; at < place.value; at++) out.push(lines[at] as FileLine);
    const ending = lines[at]?.ending || lines[at - 1]?.ending || usual;
    for (const line of hunk.lines) at = put(out, lines, at, { line, ending });
  }
  for (; at < lines.length; at++) out.push(lines[at] as FileLine);
  return ok(joined(withOldEnd(out, lines, hunks), usual));
}

function textsOf(lines: readonly FileLine[]): FileTexts {
  const texts = lines.map(({ text }) => text);
  let left = MAX_COMPARED_LINES;
  return {
    texts,
    trimmed: texts.map((text) => text.trimEnd()),
    mayLookAt(count) {
      left -= count;
      return left >= 0;
    },
  };
}

/** Keeps a file without a final newline that way, unless the patch itself mentions final newlines. */
function withOldEnd(out: readonly FileLine[], lines: readonly FileLine[], hunks: readonly Hunk[]): readonly FileLine[] {
  const [last, before] = [out.at(-1), lines.at(-1)];
  const speaks = hunks.some((hunk) => hunk.lines.some(({ open }) => open));
  if (last === undefined || before === undefined || before.ending !== '' || speaks) return out;
  return [...out.slice(0, -1), { text: last.text, ending: '' }];
}

/**
 * Adds a line to the output: a kept line keeps its bytes, a new one gets the line ending of its neighbours. Returns the
 * next position in the old lines.
 */
function put(
  out: FileLine[],
  lines: readonly FileLine[],
  at: number,
  added: { line: PatchLine; ending: string },
): number {
  const { line, ending } = added;
  if (line.op === '+') {
    out.push({ text: line.text, ending: line.open ? '' : ending });
    return at;
  }
  const kept = lines[at];
  if (line.op === ' ' && kept !== undefined) out.push(kept);
  return at + 1;
}

function locate(file: FileTexts, old: readonly string[], hunk: Hunk, from: number): Result<number> {
  const start = belowAnchors(file, hunk, from);
  if (!start.ok) return start;
  if (old.length === 0) return ok(insertionPoint(file.texts.length, hunk, { from, start: start.value }));
  const expected = hunk.atEnd ? file.texts.length - old.length : (hunk.oldStart ?? 0) - 1;
  for (const { texts, wanted } of [
    { texts: file.texts, wanted: old },
    { texts: file.trimmed, wanted: old.map((text) => text.trimEnd()) },
  ]) {
    if (expected >= start.value && wanted.every((text, index) => texts[expected + index] === text)) return ok(expected);
    if (!file.mayLookAt(texts.length - start.value)) return fail('INVALID_INPUT', TOO_MUCH);
    const places = occurrences(texts, wanted, start.value);
    const [only, second] = places;
    if (only !== undefined && (second === undefined || hunk.after.length > 0)) return ok(only);
    if (only !== undefined) {
      const shown = places
        .slice(0, 10)
        .map((place) => place + 1)
        .join(', ');
      return fail('INVALID_INPUT', `it matches ${places.length} places (lines ${shown}); add context.`);
    }
  }
  return fail('INVALID_INPUT', `its lines are not in the file: ${firstMiss(file, old)}.`);
}

/**
 * Returns the position to search from: the last of the anchor lines named above the hunk, each below the one before.
 */
function belowAnchors({ texts, mayLookAt }: FileTexts, { after }: Hunk, from: number): Result<number> {
  let start = from;
  for (const [index, anchor] of after.entries()) {
    const wanted = anchor.trim();
    let at = index === 0 ? from : start + 1;
    const first = at;
    while (at < texts.length && texts[at]?.trim() !== wanted) at++;
    if (!mayLookAt(at - first)) return fail('INVALID_INPUT', TOO_MUCH);
    if (at >= texts.length) return fail('INVALID_INPUT', `the line ${JSON.stringify(anchor)} was not found above it.`);
    start = at;
  }
  return ok(start);
}

function insertionPoint(
  length: number,
  { oldStart, after }: Hunk,
  { from, start }: { from: number; start: number },
): number {
  if (oldStart !== null) return Math.max(from, Math.min(oldStart, length));
  return after.length === 0 ? length : start + 1;
}

function firstMiss({ trimmed }: FileTexts, old: readonly string[]): string {
  const known = new Set(trimmed);
  const missing = old.find((text) => !known.has(text.trimEnd()));
  return missing === undefined
    ? 'the file has them in another order'
    : `no line reads ${JSON.stringify(missing.slice(0, 120))}`;
}

function split(text: string): FileLine[] {
  const lines: FileLine[] = [];
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const hasReturn = newline > at && text[newline - 1] === '\r';
    const ending = newline < 0 ? '' : hasReturn ? '\r\n' : '\n';
    lines.push({ text: text.slice(at, hasReturn ? end - 1 : end), ending });
    at = newline < 0 ? text.length : newline + 1;
  }
  return lines;
}

/** Adds an ending to a line that is no longer the last one. */
function joined(lines: readonly FileLine[], usual: string): string {
  return lines
    .map(({ text, ending }, index) => text + (ending === '' && index < lines.length - 1 ? usual : ending))
    .join('');
}
