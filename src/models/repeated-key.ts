/**
 * A key that one object of this JSON has twice, if any: parsers keep the last, people and checkers often read the
 * first. The text must be valid JSON.
 */
export function repeatedKey(json: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === '{') open.push(new Set());
    else if (char === '[') open.push(null);
    else if (char === '}' || char === ']') open.pop();
    else if (char === '"') {
      const end = stringEnd(json, at);
      const keys = open.at(-1);
      if (keys && isKey(json, end)) {
        const key = JSON.parse(json.slice(at, end)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return undefined;
}

/** Just behind the closing quote. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(json: string, end: number): boolean {
  let at = end;
  while (at < json.length && /\s/.test(json[at] ?? '')) at++;
  return json[at] === ':';
}
