import { readFileSync } from 'node:fs';
import { type Command, forEachChild, parse, type SyntaxNode } from 'unbash';
import { expect, test } from 'vitest';
import { generateCommands } from '../../test/differential/generate-commands.ts';
import { readPlain } from './read-plain.ts';
import { shellWord } from './words.ts';

const wordsOf = (source: string) => readPlain(source)?.commands.map(({ words }) => words.map(({ value }) => value));

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
  expect(readPlain(source)).toBeUndefined();
});

test('a script that is plain has the words that a grammar of the whole language finds', () => {
  const developers = readFileSync(new URL('../../bench/developer-commands.txt', import.meta.url), 'utf8').split('\n');
  const scripts = [...developers.filter((line) => !line.startsWith('#')), ...generateCommands(20_000, 20_271)];
  // Of these the grammar says less, also inside single quotes.
  const plain = scripts.filter((source) => readPlain(source) !== undefined && !/\\\n|\$['"]/.test(source));
  expect(plain.length).toBeGreaterThan(scripts.length / 4);
  for (const source of plain) expect([source, wordsOf(source)]).toEqual([source, wordsByGrammar(source)]);
});

function wordsByGrammar(source: string): (string | null)[][] {
  const found: (string | null)[][] = [];
  visit(parse(source));
  return found;

  function visit(node: SyntaxNode): void {
    if (node.type === 'Command') found.push((node.name === undefined ? [] : [node.name, ...node.args]).map(valueIn));
    forEachChild(node, visit);
  }
}

/** `export A=1` has assignments among its arguments. */
function valueIn(word: Command['args'][number]): string | null {
  return word.type === 'Word' ? shellWord(word).value : word.text;
}
