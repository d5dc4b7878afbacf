import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GlobDialect, globMatcher, PATH_RULE_GLOB, STAR_GLOB } from './glob.ts';

test.each<[dialect: GlobDialect, pattern: string, yes: string[], no: string[]]>([
  [PATH_RULE_GLOB, '*.pem', ['a.pem', '.pem'], ['a/b.pem', 'a.pem.x']],
  [PATH_RULE_GLOB, '**/.git/hooks', ['.git/hooks', 'a/b/.git/hooks'], ['a.git/hooks', '/.git/hooks']],
  [PATH_RULE_GLOB, 'docs/**', ['docs/a', 'docs/a/b'], ['docs', 'docs/', 'docsx/a']],
  [PATH_RULE_GLOB, 'a/**/b', ['a/x/b', 'a/x/y/b'], ['a/b', 'a/x']],
  [PATH_RULE_GLOB, 'a?[b]{c,d}\\', ['ax[b]{c,d}\\'], ['a/[b]{c,d}\\', 'axbc\\']],
  [STAR_GLOB, 'a*?[b]', ['a/x?[b]', 'a?[b]'], ['axb']],
])('%#: %s', (dialect, pattern, yes, no) => {
  const matches = globMatcher(pattern, dialect);
  expect(yes.filter((text) => !matches(text))).toEqual([]);
  expect(no.filter(matches)).toEqual([]);
});

test('several patterns match what one of them matches, none match nothing', () => {
  const matches = globMatcher(['a*', '**/b'], PATH_RULE_GLOB);
  expect(['ax', 'x/y/b', 'x/a'].map(matches)).toEqual([true, true, false]);
  expect(globMatcher([], PATH_RULE_GLOB)('')).toBe(false);
});

/** A regular expression says the same; on these short texts it may try every way. */
function sourceOf(pattern: string): string {
  return pattern.replace(/\*\*\/|\/\*\*|\*\*|[*?.]/g, (found) => {
    return { '**/': '(?:[^/]+/)*', '/**': '/.+', '**': '.*', '*': '[^/]*', '?': '[^/]', '.': '\\.' }[found] ?? found;
  });
}

test('a path rule says the same as a regular expression', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '*', '**', '**/', '/**', '?'), maxLength: 7 });
  const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '\n'), maxLength: 9 });
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), path, (patterns, text) => {
      const regex = new RegExp(`^(?:${patterns.map(sourceOf).join('|')})$`, 's');
      expect(globMatcher(patterns, PATH_RULE_GLOB)(text)).toBe(regex.test(text));
    }),
    { numRuns: 3000 },
  );
});

test('a pattern and a text made for each other take no time', () => {
  const started = performance.now();
  for (const [dialect, part] of [
    [PATH_RULE_GLOB, '*a'],
    [PATH_RULE_GLOB, '**/a'],
    [PATH_RULE_GLOB, '**a'],
    [STAR_GLOB, '*aa'],
  ] as const) {
    expect(globMatcher(`${part.repeat(300)}b`, dialect)('a'.repeat(20_000))).toBe(false);
  }
  expect(performance.now() - started).toBeLessThan(20_000);
});

test('texts with many different characters are matched after the cache was given up', () => {
  const matches = globMatcher(`*${'?'.repeat(900)}b`, PATH_RULE_GLOB);
  const text = Array.from({ length: 20_000 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');
  expect(matches(text)).toBe(false);
  expect(matches(`${text}b`)).toBe(true);
});
