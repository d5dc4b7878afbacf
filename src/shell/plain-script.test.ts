import { expect, test } from 'vitest';
import { parseScript } from './parse-script.ts';

function wordsOf(source: string): (string | null)[][] | undefined {
  const { isPlain, commands } = parseScript(source);
  return isPlain ? commands.map(({ words }) => words.map(({ value }) => value)) : undefined;
}

test.each<[string, (string | null)[][]]>([
  ['ls -la', [['ls', '-la']]],
  ['a && b || c; d | e\n\nf;\n', [['a'], ['b'], ['c'], ['d'], ['e'], ['f']]],
  ['a &&\n  b |\n c', [['a'], ['b'], ['c']]],
  [`echo 'a b' "c \\"d\\" \\$e" f\\ g 'x'"y"z`, [['echo', 'a b', 'c "d" $e', 'f g', 'xyz']]],
  ['ls nope 2>/dev/null >/dev/null 2>&1 </dev/null | cat', [['ls', 'nope'], ['cat']]],
  ['NODE_ENV=test npm test', [['npm', 'test']]],
  ['find . ! -name "*.ts" -exec wc -l {} \\;', [['find', '.', '!', '-name', '*.ts', '-exec', 'wc', '-l', '{}', ';']]],
  [
    '[ -f a ] && git show HEAD~2 a#b',
    [
      ['[', '-f', 'a', ']'],
      ['git', 'show', 'HEAD~2', 'a#b'],
    ],
  ],
  ['rm ~/x', [['rm', null]]],
  ['', []],
])('%j is plain', (source, words) => {
  expect(wordsOf(source)).toEqual(words);
});

test.each([
  'echo $X',
  'echo "$X"',
  'echo `a`',
  'a $(b)',
  'a > out',
  'a < in',
  'a 2> err',
  'a &>/dev/null',
  'a & b',
  'a |& b',
  'a;; b',
  'a &&',
  '| a',
  '; a',
  '(a)',
  '{ a; }',
  '! a',
  'if a; then b; fi',
  'for i in a; do b; done',
  'time a',
  '[[ a ]]',
  'f() { a; }',
  'a {b,c}',
  "a $'b'",
  'a $"b"',
  'a\\\nb',
  'a "b\\\nc"',
  "a 'b",
  'a # b',
  'a ~bob',
  'a=~ b',
  'a+=1 b',
  'a[0]=1',
  'cat <<E\nE',
  'ls\u200b',
  'a\r',
])('%j is not', (source) => {
  expect(wordsOf(source)).toBeUndefined();
});
