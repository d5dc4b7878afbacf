import { deeper, indentOf, sameShape, shallower } from './indentation.ts';
import { occurrences } from './occurrences.ts';

/** How a text was matched: exactly, or with differences that do not change its meaning. Nothing looser is applied. */
export type MatchStrategy = 'exact' | 'line endings' | 'trailing blanks' | 'indentation';

export interface TextMatch {
  readonly start: number;
  readonly end: number;
  /** New text with the file's own line endings and indentation. */
  readonly replacement: string;
}

export interface TextMatches {
  readonly strategy: MatchStrategy;
  /** Matches that do not overlap, in order. */
  readonly matches: readonly TextMatch[];
  /** All start positions, including overlapping matches. */
  readonly places: readonly number[];
}

/** Up to this length the engine's own search is used, which is faster but quadratic for long repetitive texts. */
const LONG_TEXT_CHARS = 250;

/** Longer texts are matched exactly alone: comparing every line holds up other work for seconds, and takes ten times their memory. */
export const MAX_LOOSE_CHARS = 4 * 1024 * 1024;

/** Returns every match of `old` by the first strategy that finds any; null when none does. */
export function findText(text: string, old: string, replacement: string): TextMatches | null {
  const exact = placesOf(text, old);
  if (exact.length > 0) return { strategy: 'exact', matches: findExact(text, old, replacement, exact), places: exact };
  if (text.length > MAX_LOOSE_CHARS) return null;
  // CRLF in the old text means the file's own line endings in the new one too.
  const plain = old.includes('\r\n') ? replacement.replace(/\r\n/g, '\n') : replacement;
  const lines = toLines(text);
  return (
    found('line endings', findAcrossEndings(text, old, plain)) ??
    found('trailing blanks', findLines(text, lines, old, plain, ignoringTrailingBlanks)) ??
    found('indentation', findLines(text, lines, old, plain, ignoringIndentation))
  );
}

function found(strategy: MatchStrategy, matches: readonly TextMatch[]): TextMatches | null {
  return matches.length === 0 ? null : { strategy, matches, places: matches.map(({ start }) => start) };
}

function placesOf(text: string, old: string): number[] {
  if (old.length > LONG_TEXT_CHARS) return occurrences(text, old);
  const places: number[] = [];
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + 1)) places.push(at);
  return places;
}

/** Keeps positions that do not overlap with the one before. */
function apart(places: readonly number[], length: number): number[] {
  let end = 0;
  return places.filter((place) => {
    if (place < end) return false;
    end = place + length;
    return true;
  });
}

export interface TextLine {
  readonly start: number;
  /** Without the line ending. */
  readonly text: string;
  readonly end: number;
}

/** Returns the first lines of a text; without `most` all of them. */
export function toLines(text: string, most = Number.POSITIVE_INFINITY): TextLine[] {
  const lines: TextLine[] = [];
  for (let start = 0; start <= text.length && lines.length < most; ) {
    const newline = text.indexOf('\n', start);
    const next = newline < 0 ? text.length + 1 : newline + 1;
    const stop = newline < 0 ? text.length : newline;
    const end = stop > start && text[stop - 1] === '\r' && newline >= 0 ? stop - 1 : stop;
    lines.push({ start, text: text.slice(start, end), end });
    start = next;
  }
  return lines;
}

function findExact(text: string, old: string, replacement: string, places: readonly number[]): TextMatch[] {
  const ended = withEndings(text);
  return apart(places, old.length).map((start) => ({
    start,
    end: start + old.length,
    replacement: ended(start, replacement),
  }));
}

/** Searches with plain newlines on both sides, and maps the positions back to the file. */
function findAcrossEndings(text: string, old: string, replacement: string): TextMatch[] {
  if (!old.includes('\n')) return [];
  const [plain, wanted] = [text.replace(/\r\n/g, '\n'), old.replace(/\r\n/g, '\n')];
  const ended = withEndings(text);
  let [seen, returns] = [0, 0];
  const inFile = (place: number): number => {
    for (; seen < place; seen++) if (text[seen + returns] === '\r' && text[seen + returns + 1] === '\n') returns++;
    return place + returns;
  };
  return apart(placesOf(plain, wanted), wanted.length).map((at) => {
    const start = inFile(at);
    const end = inFile(at + wanted.length);
    return { start, end, replacement: ended(start, replacement) };
  });
}

/** Lines at which `wanted` matches, and for each of them the replacement, or null when there is none. */
type Comparison = (
  lines: readonly TextLine[],
  wanted: readonly string[],
  replacement: string,
) => { readonly places: readonly number[]; readonly put: (place: number) => string | null };

function findLines(
  text: string,
  lines: readonly TextLine[],
  old: string,
  replacement: string,
  compare: Comparison,
): TextMatch[] {
  const ends = old.endsWith('\n');
  const wanted = old.split(/\r?\n/);
  if (ends) wanted.pop();
  if (wanted.every((line) => line.trim() === '')) return [];
  const { places, put } = compare(lines, wanted, replacement);
  const ended = withEndings(text);
  const matches: TextMatch[] = [];
  let free = 0;
  for (const at of places) {
    const fresh = at < free ? null : put(at);
    const [head, tail] = [lines[at], lines[at + wanted.length - 1]];
    if (fresh === null || head === undefined || tail === undefined) continue;
    free = at + wanted.length;
    const next = ends ? lines[free]?.start : tail.end;
    // The old text ends with a newline the file's last line lacks; the new text then gets none either.
    const kept = next === undefined ? fresh.replace(/\r?\n$/, '') : fresh;
    matches.push({ start: head.start, end: next ?? tail.end, replacement: ended(head.start, kept) });
  }
  return matches;
}

const ignoringTrailingBlanks: Comparison = (lines, wanted, replacement) => ({
  places: occurrences(
    lines.map((line) => line.text.trimEnd()),
    wanted.map((line) => line.trimEnd()),
  ),
  put: () => replacement,
});

/** Matches lines that are all indented more, or all less, by the same blanks, and indents the new text accordingly. */
const ignoringIndentation: Comparison = (lines, wanted, replacement) => {
  const texts = lines.map((line) => line.text);
  const moved = memo((extra) => deeper(replacement, extra));
  const movedBack = memo((extra) => shallower(replacement, extra));
  const first = wanted.findIndex((line) => line.trim() !== '');
  const shallow = indentOf(wanted[first] ?? '');
  return {
    places: sameShape(texts, wanted, first),
    put(place) {
      const deep = indentOf(texts[place + first] ?? '');
      if (deep.endsWith(shallow)) return moved(deep.slice(0, deep.length - shallow.length));
      return shallow.endsWith(deep) ? movedBack(shallow.slice(0, shallow.length - deep.length)) : null;
    },
  };
};

function memo<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as T;
  };
}

/**
 * Gives new lines the ending of the line they replace, or of the line above. A text with CRLF of its own is left alone.
 * Positions must ascend: there may be very many, and the text is scanned once for all of them.
 */
function withEndings(text: string): (at: number, replacement: string) => string {
  const returned = memo((fresh) => (fresh.includes('\r') ? fresh : fresh.replace(/\n/g, '\r\n')));
  let newline = text.indexOf('\n');
  let sample = newline;
  return (at, replacement) => {
    for (; newline >= 0 && newline < at; newline = text.indexOf('\n', newline + 1)) sample = newline;
    if (newline >= 0) sample = newline;
    return sample > 0 && text[sample - 1] === '\r' ? returned(replacement) : replacement;
  };
}
