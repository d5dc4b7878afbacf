import { spawnSync } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { globPattern, roughFilter } from './glob-pattern.ts';

function matches(pattern: string, path: string): boolean {
  const compiled = globPattern(pattern);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.value(path);
}

test.each<[pattern: string, yes: string[], no: string[]]>([
  ['*.py', ['a.py', 'x/y/b.py'], ['a.pyc', 'py']],
  ['**/*.ts', ['a.ts', 'x/y.ts'], ['x/y.tsx']],
  ['**/*', ['a', 'a/b/c'], []],
  ['src/**', ['src/a', 'src/a/b'], ['src', 'lib/a']],
  ['src/**/test/*.ts', ['src/test/a.ts', 'src/a/b/test/c.ts', 'src/test/test/a.ts'], ['src/test/a/b.ts', 'test/a.ts']],
  ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c'], ['a/c', 'a/b/x']],
  ['{src,lib}/{a,b{1,2}}.ts', ['src/a.ts', 'lib/b2.ts'], ['src/b.ts', 'x/a.ts']],
  ['file?.[ch]', ['file1.c', 'd/fileX.h'], ['file.c', 'file1.o']],
  ['[!a]*', ['b', 'x/bc'], ['a', 'x/abc']],
  ['a*b*c', ['abc', 'axxbyyc', 'abcbc'], ['ab', 'acb']],
  ['*a*', ['a', 'bab', 'x/za'], ['b']],
  ['\\*.md', ['*.md'], ['a.md']],
  ['x/foo**bar', ['x/foobar', 'x/foo/y/bar'], ['x/foo', 'foobar']],
  ['./a.txt', ['a.txt'], ['b/a.txt']],
  ['{**,a}/b', ['b', 'x/y/b', 'a/b'], ['x/c']],
  ['[!-a]', ['b', '0'], ['-', 'a']],
  ['x/*[a/]*', ['x/xa/b', 'x/a'], ['x/b']],
  ['**/a*b**c', ['ab/c', 'x/aXbYc', 'abcbc'], ['b/c']],
])('%s', (pattern, yes, no) => {
  expect(yes.filter((path) => !matches(pattern, path))).toEqual([]);
  expect(no.filter((path) => matches(pattern, path))).toEqual([]);
});

test('a pattern and a name made for each other take no time', () => {
  const name = 'a'.repeat(250);
  const deep = Array(500).fill('d').join('/');
  for (const pattern of [
    '*a*a*a*a*a*a*a*a*b',
    '**/**/**/**/**/**/**/**/y',
    `${'{a,b}'.repeat(7)}*a*a*b`,
    '**a**a**a**a**b',
  ]) {
    expect(matches(pattern, `${deep}/${name}`), pattern).toBe(false);
  }
  expect(globPattern('{a,b}'.repeat(9)).ok).toBe(false);
});

/** As slow as it is plain: tries everything. */
function plainly(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith('**/')) {
    return (
      plainly(pattern.slice(3), text) || (text.includes('/') && plainly(pattern, text.slice(text.indexOf('/') + 1)))
    );
  }
  if (pattern.startsWith('*')) {
    return plainly(pattern.slice(1), text) || (text !== '' && text[0] !== '/' && plainly(pattern, text.slice(1)));
  }
  return (
    text !== '' &&
    (pattern[0] === text[0] || (pattern[0] === '?' && text[0] !== '/')) &&
    plainly(pattern.slice(1), text.slice(1))
  );
}

test('what ripgrep is given lets through all that matches', () => {
  for (const [pattern, path] of [
    ['*.py', './a/é.py'],
    ['**/*.ts', './a.ts'],
    ['a/**/b', './a/b'],
    ['{x,y[ab]}/?.md', './ya/é.md'],
    ['src/**', './src/a\nb'],
    ['{**,a}/b', './b'],
    ['a*[x/]b', './a/b'],
  ] as const) {
    const run = spawnSync(rgPath, ['--null-data', '-e', roughFilter(pattern, ''), '-'], { input: `${path}\0zzz\0` });
    expect(run.stdout.toString(), pattern).toBe(`${path}\0`);
  }
});

test('it says the same as trying every way', () => {
  const names = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 3,
  });
  const patterns = names
    .map((each) => each.map((name) => name.replace(/\*+/g, '*')))
    .chain((each) =>
      fc
        .array(fc.boolean(), { minLength: each.length, maxLength: each.length })
        .map((deep) => each.map((name, at) => (deep[at] ? `**/${name}` : name)).join('/')),
    );
  const paths = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 })
    .map((each) => each.join('/'));
  fc.assert(
    fc.property(patterns, paths, (pattern, path) => {
      const asked = pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1);
      expect(matches(pattern, path)).toBe(plainly(pattern, asked));
    }),
    { numRuns: 3000 },
  );
});
