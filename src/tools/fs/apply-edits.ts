import { fail, ok, type Result } from '../../kernel/result.ts';
import { findText, type Match } from './match-text.ts';
import { describeNearMiss } from './near-miss.ts';

export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly replaceAll: boolean;
}

export interface EditReport {
  readonly strategy: string;
  readonly count: number;
  /** Of the first place, when the edit was made. */
  readonly line: number;
}

/** Places that a failure names. */
const MOST_LINES = 100;

/** Each edit on the outcome of the one before. A failure says which edit, why, and what is there instead. */
export function applyEdits(
  original: string,
  edits: readonly Edit[],
  path: string,
): Result<{ text: string; reports: EditReport[] }> {
  let text = original;
  const reports: EditReport[] = [];
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    const problem = problemOf(edit);
    if (problem !== undefined) return fail('INVALID_INPUT', `${which}${problem} Nothing was changed.`, { edit: index });
    const found = findText(text, edit.old, edit.new);
    if (found === null) {
      const message = `${which}the old text is not in ${path}. ${describeNearMiss(text, edit.old)} Nothing was changed.`;
      return fail('INVALID_INPUT', message, { edit: index });
    }
    const lines = linesAt(text, found.places.slice(0, MOST_LINES));
    if (found.places.length > 1 && !edit.replaceAll) {
      const message = `${which}the old text stands in ${path} ${found.places.length} times, at lines ${listed(lines, found.places.length)}. Give more of the text around it, or set replaceAll. Nothing was changed.`;
      return fail('INVALID_INPUT', message, { edit: index, lines });
    }
    text = replaced(text, found.matches);
    reports.push({ strategy: found.strategy, count: found.matches.length, line: lines[0] ?? 1 });
  }
  return ok({ text, reports });
}

function problemOf({ old, new: replacement }: Edit): string | undefined {
  if (old === '') return 'the old text is empty. Give the text to replace; write_file makes a new file.';
  if (old === replacement) return 'the old and the new text are the same.';
  return undefined;
}

function replaced(text: string, matches: readonly Match[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, replacement } of matches) {
    pieces.push(text.slice(at, start), replacement);
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Of places in their order: counted on from one to the next, since there may be very many. */
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
