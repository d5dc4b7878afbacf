import { fail, ok, type Result } from '../kernel/result.ts';

/** Of braces: what a pattern stands for is multiplied by each. */
const MOST_ALTERNATIVES = 256;
const MOST_CHARACTERS = 1000;

/**
 * A glob as a test of relative paths: `*` and `?` within a name, `**` over folders, `[a-z]`, `[!a]`, `{a,b}`. Without a
 * slash it is about the name alone, at any depth. `\` takes the meaning from the next character. Whoever gives the
 * pattern also gives names to the files, so the time it takes grows with their length only, never with its powers.
 */
export function globPattern(pattern: string): Result<(path: string) => boolean> {
  if (pattern === '' || pattern.includes('\0')) return wrong(pattern, 'it must not be empty or hold NUL');
  if (pattern.length > MOST_CHARACTERS) return wrong(pattern, `it is longer than ${MOST_CHARACTERS} characters`);
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    return wrong(pattern, 'it is relative to the searched folder, and cannot leave it');
  }
  const tokens = toTokens(pattern.replace(/^(?:\.\/)+/, ''));
  const alternatives = tokens === undefined ? undefined : expand(tokens);
  if (alternatives === undefined) return wrong(pattern, 'a bracket or a brace is not closed');
  if (alternatives.length > MOST_ALTERNATIVES) {
    return wrong(pattern, `its braces stand for more than ${MOST_ALTERNATIVES} patterns`);
  }
  try {
    const tests = alternatives.map(compile);
    const anyOf = (path: string) => tests.some((regex) => regex.test(path));
    if (pattern.includes('/')) return ok(anyOf);
    return ok((path) => anyOf(path.slice(path.lastIndexOf('/') + 1)));
  } catch {
    return wrong(pattern, 'a range in brackets is not in order');
  }
}

/**
 * The same for ripgrep, which knows no atomic groups: it lets through what matches and perhaps a little more, of paths
 * as it lists them from `./folder`. By bytes, so that a name that is no UTF-8 is not lost.
 */
export function roughFilter(pattern: string, folder: string): string {
  const tokens = toTokens(pattern.replace(/^(?:\.\/)+/, '')) ?? [];
  const source = tokens.map((token, index) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    // After `**` a slash may stand for nothing at all.
    if (token === '/') return tokens[index - 1] === '**' ? '/?' : '/';
    if (typeof token === 'object') return /^\[/.test(token.one) ? '[^/]{1,4}' : token.one;
    return { '{': '(?:', '}': ')', ',': '|' }[token];
  });
  const below = [...(folder === '' ? './' : `./${folder}/`)].map((character) => literally(character).one).join('');
  return pattern.includes('/') ? `(?s-u)^${below}(?:${source.join('')})$` : `(?s-u)/(?:${source.join('')})$`;
}

/** `one` is the source of a regular expression for a single character. */
type Token = { readonly one: string } | '*' | '**' | '/' | '{' | '}' | ',';

function toTokens(pattern: string): Token[] | undefined {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === '\\' && at + 1 < pattern.length) tokens.push(literally(pattern[++at] as string));
    else if (character === '*') {
      let end = at;
      while (pattern[end + 1] === '*') end++;
      tokens.push(end > at ? '**' : '*');
      at = end;
    } else if (character === '?') tokens.push({ one: '[^/]' });
    else if (character === '[') {
      const end = pattern.indexOf(']', at + 2);
      if (end < 0) return undefined;
      const inside = pattern.slice(at + 1, end).replace(/[\\[\]]/g, '\\$&');
      tokens.push({ one: `[${inside.replace(/^[!^]/, '^/')}]` });
      at = end;
    } else if (character === '/') tokens.push('/');
    else if (character === '{') {
      depth++;
      tokens.push('{');
    } else if (depth > 0 && character === '}') {
      depth--;
      tokens.push('}');
    } else if (depth > 0 && character === ',') tokens.push(',');
    else tokens.push(literally(character));
  }
  return depth === 0 ? tokens : undefined;
}

function literally(character: string): { readonly one: string } {
  return { one: character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&') };
}

/** Every pattern without braces that the braces stand for; ends early when there are too many. */
function expand(tokens: readonly Token[]): Token[][] {
  const open = tokens.indexOf('{');
  if (open < 0) return [[...tokens]];
  const choices: Token[][] = [[]];
  let depth = 0;
  let end = open;
  for (; end < tokens.length; end++) {
    const token = tokens[end] as Token;
    if (token === '{' && depth++ === 0) continue;
    if (token === '}' && --depth === 0) break;
    if (token === ',' && depth === 1) choices.push([]);
    else choices.at(-1)?.push(token);
  }
  const out: Token[][] = [];
  for (const choice of choices) {
    out.push(...expand([...tokens.slice(0, open), ...choice, ...tokens.slice(end + 1)]));
    if (out.length > MOST_ALTERNATIVES) return out;
  }
  return out;
}

/**
 * What stands between two stars is taken at the first place where it fits and never elsewhere: a later place could
 * only leave less room. `(?=(?<g>…))\k<g>` says so to the engine, which would otherwise try all places of all stars.
 */
function compile(tokens: readonly Token[]): RegExp {
  let groups = 0;
  const atFirstPlace = (text: string): string => {
    const name = `g${groups++}`;
    return `(?=(?<${name}>${text}))\\k<${name}>`;
  };

  const [first = [], ...others] = splitAt(tokens, '**');
  let source = names(first, others.length === 0);
  for (const [index, part] of others.entries()) {
    const before = index === 0 ? first : others[index - 1];
    const isWhole = (before?.length === 0 ? index === 0 : before?.at(-1) === '/') && part[0] === '/';
    const isLast = index === others.length - 1;
    const [skip, text] = isWhole ? ['(?:[^/]+/)*', names(part.slice(1), isLast)] : ['.*', names(part, isLast)];
    source += isLast ? `${skip}${text}` : atFirstPlace(`${skip}?${text}`);
  }
  return new RegExp(`^${source}$`, 's');

  function names(part: readonly Token[], isEnd: boolean): string {
    const all = splitAt(part, '/');
    return all.map((name, index) => oneName(name, isEnd || index < all.length - 1)).join('/');
  }

  /** The last star of a name that is bounded goes as far as it can; there is only one way to do that. */
  function oneName(name: readonly Token[], isBounded: boolean): string {
    const [head = [], ...others] = splitAt(name, '*');
    const fixed = (part: readonly Token[]) =>
      part.map((token) => (typeof token === 'object' ? token.one : '')).join('');
    const rest = others.map((part, index) => {
      const isLast = isBounded && index === others.length - 1;
      return isLast ? `[^/]*${fixed(part)}` : atFirstPlace(`[^/]*?${fixed(part)}`);
    });
    return fixed(head) + rest.join('');
  }
}

function splitAt(tokens: readonly Token[], at: Token): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token === at) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function wrong(pattern: string, why: string): Result<never> {
  return fail('INVALID_INPUT', `'${pattern.slice(0, 200)}' is no glob pattern: ${why}.`);
}
