import { type AutomatonState, type TextMatcher, toMatcher, type UnitTest } from './automaton.ts';

/** The rules of one kind of glob. All kinds know `*`. Letters, ranges and `?` are about UTF-16 units. */
export interface GlobDialect {
  /** `?` matches one character. */
  readonly question: boolean;
  /** `*` and `?` match `/` too. */
  readonly crossesSlash: boolean;
  /**
   * The meaning of `**`. `segment`: between slashes any number of folders, also none, and elsewhere any text. `rule`: `/**`
   * is anything below a folder, `**` before a slash any number of folders, and elsewhere any text; `a/**` followed by
   * `/b` asks for at least one folder between them. `none`: the same as `*`.
   */
  readonly globstar: 'none' | 'segment' | 'rule';
  /** `{a,b}` is either, nested too. */
  readonly braces: boolean;
  /** `[a-z]`, `[!a]`, `[^a]`: one that is not closed or whose range is not in order is an error; a negated one does not match `/`. */
  readonly classes: boolean;
  /** `\` takes the meaning from the next character. */
  readonly escapes: boolean;
}

/** Patterns of path rules and of the file policy. */
export const PATH_RULE_GLOB: GlobDialect = {
  question: true,
  crossesSlash: false,
  globstar: 'rule',
  braces: false,
  classes: false,
  escapes: false,
};

/** Patterns that files are searched by, as ripgrep and editors write them. */
export const SEARCH_GLOB: GlobDialect = {
  question: true,
  crossesSlash: false,
  globstar: 'segment',
  braces: true,
  classes: true,
  escapes: true,
};

/** Text in which `*` alone has a meaning. */
export const STAR_GLOB: GlobDialect = {
  question: false,
  crossesSlash: true,
  globstar: 'none',
  braces: false,
  classes: false,
  escapes: false,
};

/** `below` is one or more characters of any kind, `folders` any number of names, each with its slash. */
export type GlobToken =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'class'; readonly accepts: UnitTest }
  | { readonly kind: '?' | '*' | '**' | '/' | '{' | '}' | ',' | 'below' | 'folders' };

type GlobProblem = 'unclosed' | 'range order';

/** A matcher of texts that at least one of the patterns matches. The dialect must be one without errors. */
export function globMatcher(patterns: string | readonly string[], dialect: GlobDialect): TextMatcher {
  const alternatives = [patterns].flat().map((pattern) => {
    const tokens = parseGlob(pattern, dialect);
    if (typeof tokens === 'string') throw new TypeError(`'${pattern}' is not a glob: ${tokens}`);
    return tokens;
  });
  return tokenMatcher(alternatives, dialect);
}

/** The same for patterns that are parsed already, without braces. Built at first use: of many rules few are ever needed. */
export function tokenMatcher(alternatives: readonly (readonly GlobToken[])[], dialect: GlobDialect): TextMatcher {
  let matches: TextMatcher | undefined;
  return (text) => {
    matches ??= buildMatcher(alternatives, dialect);
    return matches(text);
  };
}

export function parseGlob(pattern: string, dialect: GlobDialect): GlobToken[] | GlobProblem {
  const tokens: GlobToken[] = [];
  let depth = 0;
  let at = 0;
  while (at < pattern.length) {
    const character = pattern[at] as string;
    const [kind, length] = symbolAt(pattern, at, dialect);
    if (kind === 'escape') tokens.push({ kind: 'character', character: pattern[at + 1] as string });
    else if (kind === '[') {
      const accepts = classMatcher(pattern.slice(at + 1, at + length - 1));
      if (accepts === undefined) return 'range order';
      tokens.push({ kind: 'class', accepts });
    } else if (kind === 'unclosed') return kind;
    else if (kind === 'character' || (depth === 0 && (kind === '}' || kind === ','))) {
      tokens.push({ kind: 'character', character });
    } else {
      if (kind === '{') depth++;
      if (kind === '}') depth--;
      tokens.push({ kind });
    }
    at += length;
  }
  return depth === 0 ? tokens : 'unclosed';
}

type Symbol = Exclude<GlobToken['kind'], 'class'> | 'escape' | '[' | 'unclosed';

/** Returns the symbol at an index, and how many characters it takes. */
function symbolAt(pattern: string, at: number, dialect: GlobDialect): [kind: Symbol, length: number] {
  const character = pattern[at] as string;
  if (dialect.globstar === 'rule') {
    if (pattern.startsWith('**/', at)) return ['folders', 3];
    if (pattern.startsWith('/**', at)) return ['below', 3];
    if (pattern.startsWith('**', at)) return ['**', 2];
  }
  switch (character) {
    case '*': {
      let end = at + 1;
      if (dialect.globstar === 'segment') while (pattern[end] === '*') end++;
      return [end > at + 1 ? '**' : '*', end - at];
    }
    case '?':
      return [dialect.question ? '?' : 'character', 1];
    case '/':
      return ['/', 1];
    case '\\':
      return dialect.escapes && at + 1 < pattern.length ? ['escape', 2] : ['character', 1];
    case '[': {
      if (!dialect.classes) return ['character', 1];
      const end = pattern.indexOf(']', at + 2);
      return end >= 0 ? ['[', end + 1 - at] : ['unclosed', 1];
    }
    case '{':
    case '}':
    case ',':
      return [dialect.braces ? character : 'character', 1];
    default:
      return ['character', 1];
  }
}

/** Undefined when a range is not in order. */
function classMatcher(inside: string): UnitTest | undefined {
  const isNegated = /^[!^]/.test(inside);
  const characters = (isNegated ? inside.slice(1) : inside).replace(/[\\[\]^]/g, '\\$&');
  try {
    const regex = new RegExp(`^[${characters}]$`, 's');
    if (!isNegated) return (unit) => regex.test(unit);
    return (unit) => !regex.test(unit) && unit !== '/';
  } catch {
    return undefined;
  }
}

const any = () => true;
const isSlash = (unit: string) => unit === '/';
const isInName = (unit: string) => unit !== '/';

/**
 * Every list of tokens without braces that the braces stand for. Their number is multiplied by each pair of braces, so
 * it ends early when there are more than `max`.
 */
export function expandBraces(tokens: readonly GlobToken[], max: number): GlobToken[][] {
  const open = tokens.findIndex(({ kind }) => kind === '{');
  if (open < 0) return [[...tokens]];
  const choices: GlobToken[][] = [[]];
  let depth = 0;
  let end = open;
  for (; end < tokens.length; end++) {
    const token = tokens[end] as GlobToken;
    if (token.kind === '{' && depth++ === 0) continue;
    if (token.kind === '}' && --depth === 0) break;
    if (token.kind === ',' && depth === 1) choices.push([]);
    else choices.at(-1)?.push(token);
  }
  const expanded: GlobToken[][] = [];
  for (const choice of choices) {
    expanded.push(...expandBraces([...tokens.slice(0, open), ...choice, ...tokens.slice(end + 1)], max));
    if (expanded.length > max) return expanded;
  }
  return expanded;
}

function buildMatcher(alternatives: readonly (readonly GlobToken[])[], dialect: GlobDialect): TextMatcher {
  const states: AutomatonState[] = [];
  const toStates = createTranslator(dialect);
  const starts = alternatives.map((tokens) => {
    const start = states.length;
    for (let at = 0; at < tokens.length; at++) {
      const isSegment = dialect.globstar === 'segment' && isSegmentAt(tokens, at);
      states.push(...toStates(isSegment ? FOLDERS : (tokens[at] as GlobToken)));
      // The slash after it is part of it.
      if (isSegment) at++;
    }
    states.push({ isEnd: true });
    return start;
  });
  return toMatcher(states, starts);
}

const FOLDERS: GlobToken = { kind: 'folders' };

function isSegmentAt(tokens: readonly GlobToken[], at: number): boolean {
  if (tokens[at]?.kind !== '**') return false;
  return (at === 0 || tokens[at - 1]?.kind === '/') && tokens[at + 1]?.kind === '/';
}

/** Returns the states for a token. The same character always gets the same test. */
function createTranslator({ crossesSlash }: GlobDialect): (token: GlobToken) => AutomatonState[] {
  const inName = crossesSlash ? any : isInName;
  const tests = new Map<string, UnitTest>();
  return (token) => {
    switch (token.kind) {
      case '*':
        return [{ stays: inName, skips: 1 }];
      case '**':
        return [{ stays: any, skips: 1 }];
      case '?':
        return [{ advances: inName }];
      case 'below':
        return [{ advances: isSlash }, { advances: any }, { stays: any, skips: 1 }];
      case 'folders':
        return [
          { advances: isInName, skips: 2 },
          { stays: isInName, returns: isSlash },
        ];
      case 'class':
        return [{ advances: token.accepts }];
      case 'character':
        return [{ advances: testOf(token.character) }];
      default:
        return [{ advances: testOf(token.kind) }];
    }
  };

  function testOf(character: string): UnitTest {
    const known = tests.get(character);
    if (known !== undefined) return known;
    const test: UnitTest = (unit) => unit === character;
    tests.set(character, test);
    return test;
  }
}
