import { occurrences } from './occurrences.ts';

/**
 * Finds lines with the same text and the same relative indentation. The first non-blank line has none before it and is
 * compared without its indent.
 */
export function sameShape(texts: readonly string[], wanted: readonly string[], first: number): number[] {
  const body = (line: string | undefined) => line?.trimEnd().slice(indentOf(line).length);
  const start = body(wanted[first]);
  const steps = stepsOf(wanted).slice(first + 1);
  const after = steps.length === 0 ? texts.map((_, at) => at + 1) : occurrences(stepsOf(texts), steps);
  return after
    .map((at) => at - first - 1)
    .filter((place) => {
      if (place < 0 || body(texts[place + first]) !== start) return false;
      for (let at = place + first - 1; at >= place; at--) if (texts[at]?.trim() !== '') return false;
      return true;
    });
}

/** Every line without its indent, but with the difference to the indent of the last non-blank line. */
function stepsOf(texts: readonly string[]): string[] {
  let last = '';
  return texts.map((line) => {
    if (line.trim() === '') return '';
    const indent = indentOf(line);
    let same = 0;
    while (same < indent.length && indent[same] === last[same]) same++;
    const step = `${last.slice(same)}|${indent.slice(same)}|${line.trimEnd().slice(indent.length)}`;
    last = indent;
    return step;
  });
}

export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

export function deeper(text: string, extra: string): string {
  return text.replace(/(^|\n)(?=[^\r\n])/g, `$1${extra}`);
}

/** Returns null when a line has less indentation than that. */
export function shallower(text: string, extra: string): string | null {
  const lines = text.split('\n');
  if (!lines.every((line) => line.trim() === '' || line.startsWith(extra))) return null;
  return lines.map((line) => (line.startsWith(extra) ? line.slice(extra.length) : line)).join('\n');
}
