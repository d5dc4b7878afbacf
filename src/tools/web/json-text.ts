/** Prefix of Gerrit and similar servers against running JSON as a script. */
const PREFIX = /^\s*\)\]\}'[^\n]*\n?/;
const MAX_GROWTH = 4;

/**
 * Indents JSON without such a prefix, with every name and value as it came: a number may exceed JavaScript's range, and
 * a
 * name may occur twice. Text that does not parse, or would grow too large, stays unchanged.
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

/** Returns null when it gets too long: deep nesting turns megabytes into gigabytes of spaces. */
function indented(text: string): string | null {
  const most = text.length * MAX_GROWTH + 10_000;
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

/** Scans strings by hand, because a pattern would have to remember every character of a long one. */
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
