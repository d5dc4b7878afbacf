/** Gerrit and its kin put this before their JSON, so that no page can run it as a script. */
const PREFIX = /^\s*\)\]\}'[^\n]*\n?/;
const MOST_GROWTH = 4;

/**
 * JSON without such a prefix, indented, with every name and value written as it came: a number may be longer than
 * JavaScript can hold, and a name may stand there twice. What does not parse, or would grow out of bounds, stays as it is.
 */
export function jsonText(text: string): string {
  const plain = text.replace(PREFIX, '').trim();
  return isJson(plain) ? (indented(plain) ?? plain) : plain;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Null when it gets too long: deep nesting turns megabytes into gigabytes of spaces. */
function indented(text: string): string | null {
  const most = text.length * MOST_GROWTH + 10_000;
  const parts: string[] = [];
  let [depth, length, last] = [0, 0, ''];
  const write = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  for (const token of tokensOf(text)) {
    const isEnd = token === ']' || token === '}';
    if (isEnd) depth--;
    const isEmpty = isEnd && (last === '[' || last === '{');
    const startsLine = last === ',' || ((last === '[' || last === '{') && !isEnd) || (isEnd && !isEmpty);
    if (length + 2 * depth > most) return null;
    if (startsLine) write(`\n${'  '.repeat(depth)}`);
    write(token === ':' ? ': ' : token);
    if (token === '[' || token === '{') depth++;
    last = token;
  }
  return parts.join('');
}

/** A pattern would have to remember every character of a long string; this has only to find its end. */
function* tokensOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const start = at;
    const first = text[at++] ?? '';
    if (/\s/.test(first)) continue;
    if (first === '"') at = endOfString(text, at);
    else if (!MARKS.includes(first)) while (at < text.length && !/[\s[\]{},:]/.test(text[at] ?? '')) at++;
    yield text.slice(start, at);
  }
}

const MARKS = '[]{},:';

function endOfString(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === 34) return at + 1;
  }
}
