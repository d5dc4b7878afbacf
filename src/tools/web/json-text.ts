/** Gerrit and its kin put this before their JSON, so that no page can run it as a script. */
const PREFIX = /^\s*\)\]\}'[^\n]*\n?/;
const MOST_GROWTH = 4;

/** JSON without such a prefix, indented. What does not parse, or would grow out of bounds, stays as it is. */
export function jsonText(text: string): string {
  const plain = text.replace(PREFIX, '');
  if (indentedLength(plain) > plain.length * MOST_GROWTH + 10_000) return plain;
  try {
    return JSON.stringify(JSON.parse(plain), null, 2);
  } catch {
    return plain;
  }
}

/** About how long it gets, without building it: deep nesting turns megabytes into gigabytes of spaces. */
function indentedLength(text: string): number {
  let depth = 0;
  let length = text.length;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at++;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 91 || code === 123) length += 2 * ++depth + 1;
    else if (code === 93 || code === 125) length += 2 * --depth + 1;
    else if (code === 44) length += 2 * depth + 1;
  }
  return length;
}
