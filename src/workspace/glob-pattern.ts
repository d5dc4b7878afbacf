import { fail, ok, type Result } from '../kernel/result.ts';

/**
 * A glob as a test of relative paths: `*` and `?` within a name, `**` over folders, `[a-z]`, `[!a]`, `{a,b}`. Without a
 * slash it is about the name alone, at any depth. `\` takes the meaning from the next character.
 */
export function globPattern(pattern: string): Result<(path: string) => boolean> {
  if (pattern === '' || pattern.includes('\0')) return wrong(pattern, 'it must not be empty or hold NUL');
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    return wrong(pattern, 'it is relative to the searched folder, and cannot leave it');
  }
  const source = compile(pattern.replace(/^(?:\.\/)+/, ''));
  if (source === undefined) return wrong(pattern, 'a bracket or a brace is not closed');
  let regex: RegExp;
  try {
    regex = new RegExp(`^${source}$`, 's');
  } catch {
    return wrong(pattern, 'a range in brackets is not in order');
  }
  if (pattern.includes('/')) return ok((path) => regex.test(path));
  return ok((path) => regex.test(path.slice(path.lastIndexOf('/') + 1)));
}

function compile(pattern: string): string | undefined {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '\\' && at + 1 < pattern.length) source += literally(pattern[++at] as string);
    else if (character === '*' && pattern[at + 1] === '*') {
      const wholeName = (at === 0 || '/{,'.includes(pattern[at - 1] as string)) && pattern[at + 2] === '/';
      source += wholeName ? '(?:[^/]+/)*' : '.*';
      at += wholeName ? 2 : 1;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end < 0) return undefined;
      const inside = pattern.slice(at + 1, end).replace(/[\\[\]]/g, '\\$&');
      source += `[${inside.replace(/^[!^]/, '^/')}]`;
      at = end;
    } else if (character === '{') {
      depth++;
      source += '(?:';
    } else if (character === '}' && depth > 0) {
      depth--;
      source += ')';
    } else if (character === ',' && depth > 0) source += '|';
    else source += literally(character);
  }
  return depth === 0 ? source : undefined;
}

function literally(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

function wrong(pattern: string, why: string): Result<never> {
  return fail('INVALID_INPUT', `'${pattern.slice(0, 200)}' is no glob pattern: ${why}.`);
}
