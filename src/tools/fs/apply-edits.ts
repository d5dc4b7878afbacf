import { fail, ok, type Result } from '../../kernel/result.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { findText, MAX_LOOSE_CHARS, type TextMatch, toLines } from './match-text.ts';

export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly replaceAll: boolean;
}

export interface EditReport {
  readonly strategy: string;
  readonly count: number;
  /** Line of the first match, at the time of the edit. */
  readonly line: number;
}

/** Matches that a failure lists. */
const MAX_LISTED_LINES = 100;

/** Applies each edit to the result of the one before. A failure says which edit, why, and what the file has instead. */
export async function applyEdits(
  original: string,
  edits: readonly Edit[],
  path: string,
): Promise<Result<{ text: string; reports: EditReport[] }>> {
  const yielder = createYielder();
  let text = original;
  const reports: EditReport[] = [];
  for (const [index, edit] of edits.entries()) {
    if (yielder.isDue()) await yielder.pause();
    const which = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    const problem = problemOf(edit);
    if (problem !== undefined) return fail('INVALID_INPUT', `${which}${problem} Nothing was changed.`, { edit: index });
    const found = findText(text, edit.old, edit.new);
    if (found === null) {
      const message = `${which}old text not found in ${path}. ${describeFailure(text, edit.old)} Nothing was changed.`;
      return fail('INVALID_INPUT', message, { edit: index });
    }
    const lines = linesAt(text, found.places.slice(0, MAX_LISTED_LINES));
    if (found.places.length > 1 && !edit.replaceAll) {
      const message = `${which}old text matches ${found.places.length} places in ${path}, at lines ${listed(lines, found.places.length)}. Include more of the surrounding text, or set replaceAll. Nothing was changed.`;
      return fail('INVALID_INPUT', message, { edit: index, lines });
    }
    text = replaceMatches(text, found.matches);
    reports.push({ strategy: found.strategy, count: found.matches.length, line: lines[0] ?? 1 });
  }
  return ok({ text, reports });
}

function problemOf({ old, new: replacement }: Edit): string | undefined {
  if (old === '') return 'old is empty. Give the text to replace; write_file creates a new file.';
  if (old === replacement) return 'old and new are the same.';
  return undefined;
}

function replaceMatches(text: string, matches: readonly TextMatch[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, replacement } of matches) {
    pieces.push(text.slice(at, start), replacement);
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Returns the lines of ascending positions in one pass, since there may be very many. */
function linesAt(text: string, places: readonly number[]): number[] {
  let line = 1;
  let newline = text.indexOf('\n');
  return places.map((place) => {
    for (; newline >= 0 && newline < place; newline = text.indexOf('\n', newline + 1)) line++;
    return line;
  });
}

function listed(lines: readonly number[], total: number): string {
  return total <= 20 ? lines.join(', ') : `${lines.slice(0, 20).join(', ')} and ${total - 20} more`;
}

/** Of a large file the beginning is compared, for the message of a failure. */
const MAX_LINES = 50_000;
const MAX_COMPARED_CHARS = MAX_LOOSE_CHARS;
/** Bounds the comparison of words with every line. */
const MAX_ANCHOR = 200;

function describeFailure(text: string, old: string): string {
  const near = describeNearMiss(text, old);
  if (text.length <= MAX_LOOSE_CHARS) return near;
  return `The file is so large that only exactly the same text counts, with its blanks and line endings: find it with grep. ${near}`;
}

/** Describes the closest match and its first difference, for the message of a failed edit. */
function describeNearMiss(text: string, old: string): string {
  const lines = toLines(text.slice(0, MAX_COMPARED_CHARS), MAX_LINES);
  const wanted = old.split(/\r?\n/).slice(0, 200);
  const scores = new Map<number, number>();
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const key = line.text.trim();
    if (key !== '') places.set(key, [...(places.get(key) ?? []), index].slice(-50));
  }
  for (const [offset, line] of wanted.entries()) {
    for (const index of places.get(line.trim()) ?? [])
      scores.set(index - offset, (scores.get(index - offset) ?? 0) + 1);
  }
  const [start, score] = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [0, 0];
  if (score === 0) return similarLine(lines, wanted);
  const differs = wanted.findIndex((line, offset) => lines[start + offset]?.text !== line);
  const found = lines[start + differs]?.text;
  const [first, last] = [Math.max(1, start + 1), Math.min(lines.length, start + wanted.length)];
  const difference = `first difference at line ${start + differs + 1}: the file has ${quoted(found)}, old has ${quoted(wanted[differs])}`;
  return `The closest text is in lines ${first}–${last}; ${difference}.`;
}

function similarLine(lines: ReturnType<typeof toLines>, wanted: readonly string[]): string {
  const anchor = wanted.find((line) => line.trim() !== '')?.trim() ?? '';
  const words = new Set(
    anchor
      .slice(0, MAX_ANCHOR)
      .split(/\W+/)
      .filter((word) => word.length > 2),
  );
  let best = { score: 0, index: -1 };
  for (const [index, { text }] of lines.entries()) {
    let score = 0;
    for (const word of words) if (text.includes(word)) score++;
    if (score > best.score) best = { score, index };
  }
  if (best.index < 0 || best.score * 2 < words.size) return 'Nothing in the file is similar: read the file again.';
  return `The closest line is ${best.index + 1}: ${quoted(lines[best.index]?.text)}.`;
}

function quoted(line: string | undefined): string {
  if (line === undefined) return 'no such line';
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line);
}
