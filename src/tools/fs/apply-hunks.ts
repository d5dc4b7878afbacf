import { fail, ok, type Result } from '../../kernel/result.ts';
import { occurrences } from './occurrences.ts';
import type { Hunk, PatchLine } from './patch.ts';

interface FileLine {
  readonly text: string;
  readonly ending: string;
}

/** Lines that may be looked at for all hunks of a file together. */
const MOST_LOOKED_AT = 50_000_000;
const TOO_MUCH = 'there are too many hunks to look for in so long a file; give line numbers, or several patches.';

interface FileTexts {
  readonly texts: readonly string[];
  /** Without the blanks at their ends. */
  readonly trimmed: readonly string[];
  /** False when with these it is too much. */
  mayLookAt(lines: number): boolean;
}

/** Puts hunks into a text, in order. A hunk that fits nowhere, or in several places, fails the whole. */
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
  let left = MOST_LOOKED_AT;
  return {
    texts,
    trimmed: texts.map((text) => text.trimEnd()),
    mayLookAt(count) {
      left -= count;
      return left >= 0;
    },
  };
}

/** A file without a final newline gets none, unless the patch speaks of final newlines itself. */
function withOldEnd(out: readonly FileLine[], lines: readonly FileLine[], hunks: readonly Hunk[]): readonly FileLine[] {
  const [last, before] = [out.at(-1), lines.at(-1)];
  const speaks = hunks.some((hunk) => hunk.lines.some(({ open }) => open));
  if (last === undefined || before === undefined || before.ending !== '' || speaks) return out;
  return [...out.slice(0, -1), { text: last.text, ending: '' }];
}

/** A line that stays keeps its own bytes; a new one ends as its neighbours do. Returns where the old lines go on. */
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
      return fail('INVALID_INPUT', `its lines stand at ${places.length} places (lines ${shown}); add context.`);
    }
  }
  return fail('INVALID_INPUT', `its lines are not in the file: ${firstMiss(file, old)}.`);
}

/** Where to look from: the last of the lines that the hunk names above it, each below the one before. */
function belowAnchors({ texts, mayLookAt }: FileTexts, { after }: Hunk, from: number): Result<number> {
  let start = from;
  for (const [index, anchor] of after.entries()) {
    const wanted = anchor.trim();
    let at = index === 0 ? from : start + 1;
    const first = at;
    while (at < texts.length && texts[at]?.trim() !== wanted) at++;
    if (!mayLookAt(at - first)) return fail('INVALID_INPUT', TOO_MUCH);
    if (at >= texts.length)
      return fail('INVALID_INPUT', `there is no line ${JSON.stringify(anchor)} where it should stand.`);
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
    ? 'they stand there, but not in this order'
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

/** A line that was the last one and is not any more gets an ending. */
function joined(lines: readonly FileLine[], usual: string): string {
  return lines
    .map(({ text, ending }, index) => text + (ending === '' && index < lines.length - 1 ? usual : ending))
    .join('');
}
