/** How a text was found: as it is, or with differences that do not change its meaning. Nothing looser is applied. */
export type Strategy = 'exact' | 'line endings' | 'trailing blanks' | 'indentation';

export interface Match {
  readonly start: number;
  readonly end: number;
  /** What to put there: the new text with the file's own line endings and indentation. */
  readonly replacement: string;
}

export interface Found {
  readonly strategy: Strategy;
  /** Each after the end of the one before. */
  readonly matches: readonly Match[];
  /** Where it starts at all: occurrences that overlap are several places too. */
  readonly places: readonly number[];
}

/** Every place where `old` stands, by the first strategy that finds any. Null when none does. */
export function findText(text: string, old: string, replacement: string): Found | null {
  const exact = findExact(text, old, replacement);
  if (exact[0] !== undefined) {
    return { strategy: 'exact', matches: exact, places: overlapping(text, old, exact[0].start) };
  }
  // Whoever writes CRLF for the old text means the file's own line endings with the new one too.
  const plain = old.includes('\r\n') ? replacement.replace(/\r\n/g, '\n') : replacement;
  const lines = toLines(text);
  return (
    found('line endings', findAcrossEndings(text, old, plain)) ??
    found('trailing blanks', findLines(text, lines, old, plain, sameButTrailing)) ??
    found('indentation', findLines(text, lines, old, plain, sameButIndented))
  );
}

function found(strategy: Strategy, matches: readonly Match[]): Found | null {
  return matches.length === 0 ? null : { strategy, matches, places: matches.map(({ start }) => start) };
}

function overlapping(text: string, old: string, first: number): number[] {
  const places: number[] = [];
  for (let at = first; at >= 0; at = text.indexOf(old, at + 1)) places.push(at);
  return places;
}

export interface Line {
  readonly start: number;
  /** Without the line ending. */
  readonly text: string;
  readonly end: number;
}

export function toLines(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const next = newline < 0 ? text.length + 1 : newline + 1;
    const stop = newline < 0 ? text.length : newline;
    const end = stop > start && text[stop - 1] === '\r' && newline >= 0 ? stop - 1 : stop;
    lines.push({ start, text: text.slice(start, end), end });
    start = next;
  }
  return lines;
}

function findExact(text: string, old: string, replacement: string): Match[] {
  const matches: Match[] = [];
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) {
    matches.push({ start: at, end: at + old.length, replacement: withEndings(text, at, replacement) });
  }
  return matches;
}

/** Looks with plain newlines on both sides, and counts back where that stands in the file. */
function findAcrossEndings(text: string, old: string, replacement: string): Match[] {
  if (!old.includes('\n')) return [];
  const [plain, wanted] = [text.replace(/\r\n/g, '\n'), old.replace(/\r\n/g, '\n')];
  const matches: Match[] = [];
  let [at, seen, returns] = [0, 0, 0];
  const inFile = (place: number): number => {
    for (; seen < place; seen++) if (text[seen + returns] === '\r' && text[seen + returns + 1] === '\n') returns++;
    return place + returns;
  };
  for (at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
    const start = inFile(at);
    const end = inFile(at + wanted.length);
    matches.push({ start, end, replacement: withEndings(text, start, replacement) });
  }
  return matches;
}

/** Given the lines of the file and those asked for: the replacement to use, or null when they are not the same. */
type Comparison = (found: readonly string[], wanted: readonly string[], replacement: string) => string | null;

function findLines(
  text: string,
  lines: readonly Line[],
  old: string,
  replacement: string,
  compare: Comparison,
): Match[] {
  const ends = old.endsWith('\n');
  const wanted = old.split(/\r?\n/);
  if (ends) wanted.pop();
  if (wanted.every((line) => line.trim() === '')) return [];
  const first = wanted.findIndex((line) => line.trim() !== '');
  const anchor = wanted[first]?.trim();
  const last = wanted.length - 1;
  const matches: Match[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    if (lines[at + first]?.text.trim() !== anchor || lines[at + last]?.text.trim() !== wanted[last]?.trim()) continue;
    const found = lines.slice(at, at + wanted.length);
    const put = compare(
      found.map((line) => line.text),
      wanted,
      replacement,
    );
    const [head, tail] = [found[0], found.at(-1)];
    if (put === null || head === undefined || tail === undefined) continue;
    const next = ends ? lines[at + wanted.length]?.start : tail.end;
    // The old text ends with a newline that the last line of the file has not: the new one gives none either.
    const kept = next === undefined ? put.replace(/\r?\n$/, '') : put;
    matches.push({ start: head.start, end: next ?? tail.end, replacement: withEndings(text, head.start, kept) });
    at += wanted.length - 1;
  }
  return matches;
}

const sameButTrailing: Comparison = (found, wanted, replacement) =>
  found.every((line, index) => line.trimEnd() === wanted[index]?.trimEnd()) ? replacement : null;

/** All lines deeper, or all shallower, by the same blanks. The new text is moved by as much. */
const sameButIndented: Comparison = (found, wanted, replacement) => {
  const index = wanted.findIndex((line) => line.trim() !== '');
  const [deep, shallow] = [indentOf(found[index] ?? ''), indentOf(wanted[index] ?? '')];
  if (deep.endsWith(shallow)) {
    const extra = deep.slice(0, deep.length - shallow.length);
    const same = found.every(
      (line, at) => isBlank(line, wanted[at]) || line.trimEnd() === extra + wanted[at]?.trimEnd(),
    );
    return same ? replacement.replace(/(^|\n)(?=[^\r\n])/g, `$1${extra}`) : null;
  }
  if (!shallow.endsWith(deep)) return null;
  const extra = shallow.slice(0, shallow.length - deep.length);
  const same = found.every((line, at) => isBlank(line, wanted[at]) || extra + line.trimEnd() === wanted[at]?.trimEnd());
  const lines = replacement.split('\n');
  if (!same || !lines.every((line) => line.trim() === '' || line.startsWith(extra))) return null;
  return lines.map((line) => (line.startsWith(extra) ? line.slice(extra.length) : line)).join('\n');
};

function isBlank(a: string, b: string | undefined): boolean {
  return a.trim() === '' && b?.trim() === '';
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** New lines end as the line they replace does, or the one above it. A text that has CRLF of its own is left alone. */
function withEndings(text: string, at: number, replacement: string): string {
  if (!replacement.includes('\n') || replacement.includes('\r')) return replacement;
  const newline = text.indexOf('\n', at);
  const sample = newline >= 0 ? newline : text.lastIndexOf('\n');
  return sample > 0 && text[sample - 1] === '\r' ? replacement.replace(/\n/g, '\r\n') : replacement;
}
