import { fail, ok, type Result } from '../../kernel/result.ts';
import { escapeRegex } from '../../kernel/text/escape.ts';
import { expandBraces, type GlobToken, parseGlob, SEARCH_GLOB, tokenMatcher } from '../../kernel/text/glob.ts';

/** Patterns without braces that one with braces stands for. */
const MAX_ALTERNATIVES = 256;
const MAX_CHARACTERS = 1000;

/**
 * A glob as a test of relative paths: `*` and `?` within a name, `**` over folders, `[a-z]`, `[!a]`, `{a,b}`. Without a
 * slash it is about the name alone, at any depth. `\` takes the meaning from the next character. The same
 * author may choose the pattern and the names of files, so the time it takes must be linear in their length.
 */
export function globPattern(pattern: string): Result<(path: string) => boolean> {
  if (pattern === '' || pattern.includes('\0')) return wrong(pattern, 'it must not be empty or hold NUL');
  if (pattern.length > MAX_CHARACTERS) return wrong(pattern, `it is longer than ${MAX_CHARACTERS} characters`);
  if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
    return wrong(pattern, 'it is relative to the searched folder, and cannot leave it');
  }
  const tokens = parseGlob(withoutDots(pattern), SEARCH_GLOB);
  if (tokens === 'unclosed') return wrong(pattern, 'a bracket or a brace is not closed');
  if (tokens === 'range order') return wrong(pattern, 'a range in brackets is not in order');
  const alternatives = expandBraces(tokens, MAX_ALTERNATIVES);
  if (alternatives.length > MAX_ALTERNATIVES) {
    return wrong(pattern, `its braces stand for more than ${MAX_ALTERNATIVES} patterns`);
  }
  const matches = matcherOf(alternatives);
  if (pattern.includes('/')) return ok(matches);
  return ok((path) => matches(path.slice(path.lastIndexOf('/') + 1)));
}

/** More states than this in one automaton are not cached, so that each path would cost them all. */
const MAX_SHARED_TOKENS = 2000;

function matcherOf(alternatives: readonly GlobToken[][]): (path: string) => boolean {
  const tokens = alternatives.reduce((sum, each) => sum + each.length, 0);
  if (tokens <= MAX_SHARED_TOKENS) return tokenMatcher(alternatives, SEARCH_GLOB);
  const matchers = alternatives.map((each) => tokenMatcher([each], SEARCH_GLOB));
  return (path) => matchers.some((matches) => matches(path));
}

/**
 * The same as a regular expression for ripgrep, for paths as it lists them from `./folder`. It lets through all that
 * matches and perhaps a little more. It works on bytes, so that a name that is not UTF-8 is not lost.
 */
export function roughFilter(pattern: string, folder: string): string {
  const parsed = parseGlob(withoutDots(pattern), SEARCH_GLOB);
  const tokens = typeof parsed === 'string' ? [] : parsed;
  const source = tokens.map((token, index) => roughSource(token, tokens[index - 1])).join('');
  const below = escapeRegex(folder === '' ? './' : `./${folder}/`);
  return pattern.includes('/') ? `(?s-u)^${below}(?:${source})$` : `(?s-u)/(?:${source})$`;
}

function roughSource(token: GlobToken, before: GlobToken | undefined): string {
  switch (token.kind) {
    case 'character':
      return escapeRegex(token.character);
    case 'class':
      return token.accepts('/') ? '.{1,4}' : '[^/]{1,4}';
    case '**':
      return '.*';
    case '*':
      return '[^/]*';
    case '/':
      // After `**` a slash may stand for nothing at all; braces may end with one.
      return before?.kind === '**' || before?.kind === '}' ? '/?' : '/';
    case '{':
      return '(?:';
    case '}':
      return ')';
    case ',':
      return '|';
    default:
      return '[^/]{1,4}';
  }
}

function withoutDots(pattern: string): string {
  return pattern.replace(/^(?:\.\/)+/, '');
}

function wrong(pattern: string, why: string): Result<never> {
  return fail('INVALID_INPUT', `'${pattern.slice(0, 200)}' is no glob pattern: ${why}.`);
}
