import { toLines } from './match-text.ts';

const MAX_LINES = 50_000;
/** Every word of it is looked for in every line. */
const MAX_ANCHOR = 200;

/** Where a text almost stands, and the first thing that differs; for the message of an edit that was not made. */
export function describeNearMiss(text: string, old: string): string {
  const lines = toLines(text).slice(0, MAX_LINES);
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
  const difference = `first difference at line ${start + differs + 1}: the file has ${quoted(found)}, you gave ${quoted(wanted[differs])}`;
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
  if (best.index < 0 || best.score * 2 < words.size) return 'Nothing in the file is close to it: read the file again.';
  return `The closest line is ${best.index + 1}: ${quoted(lines[best.index]?.text)}.`;
}

function quoted(line: string | undefined): string {
  if (line === undefined) return 'no such line';
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line);
}
