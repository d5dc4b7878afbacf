import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseScript } from './parse-script.ts';

/** Another grammar of the shell, written by other people in another language. */
const { syntax } = createRequire(import.meta.url)('mvdan-sh');

/** How many commands it finds; undefined for what it does not understand. */
function countCommands(source: string): number | undefined {
  try {
    return countIn(syntax.NewParser().Parse(source, '').__internal_object__);
  } catch {
    return undefined;
  }
}

interface Node {
  readonly constructor: { readonly string?: string };
  readonly Args?: { readonly $length: number };
}
interface Slice {
  readonly $array?: readonly Node[];
  readonly $offset: number;
  readonly $length: number;
}

/** In the tree as the other language keeps it: its own `Walk` makes a new object of every node, and takes most of the time. */
function countIn(node: Node): number {
  let count = node.constructor.string === '*syntax.CallExpr' && (node.Args?.$length ?? 0) > 0 ? 1 : 0;
  for (const [name, value] of Object.entries(node)) {
    if (name === '$val' || typeof value !== 'object' || value === null) continue;
    const { $array, $offset, $length } = value as Slice;
    const inside = $array === undefined ? [value as Node] : $array.slice($offset, $offset + $length);
    for (const one of inside) if (typeof one === 'object') count += countIn(one);
  }
  return count;
}

test('is read to the last command', () => {
  const counts = [
    '',
    'ls',
    'a=1',
    'a | b; c && d',
    '(a; { b; })',
    'for i in 1; do a $(b `c`); done',
    'a <<E\n$(b)\nE\n',
  ];
  expect(counts.map(countCommands)).toEqual([0, 1, 0, 4, 2, 3, 2]);
  expect(countCommands('if a; then')).toBeUndefined();
});

const word = fc.constantFrom(
  'a',
  '"b c"',
  "'d e'",
  '$x',
  '"$y"',
  '-n',
  '*.ts',
  '\\;',
  '$(echo z)',
  '`pwd`',
  '{}',
  '~',
  '""',
);
const name = fc.constantFrom('ls', 'cat', 'echo', 'git status', 'grep x', 'touch', 'wc', 'sort', 'head', 'npm test');
const simple = fc
  .tuple(name, fc.array(word, { maxLength: 3 }))
  .map(([command, words]) => [command, ...words].join(' '));
const redirected = fc
  .tuple(simple, fc.constantFrom('', ' > out', ' 2>/dev/null', ' < in', ' 2>&1'))
  .map((parts) => parts.join(''));
const { script } = fc.letrec<{ script: string }>((tie) => ({
  script: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    redirected,
    fc
      .tuple(tie('script'), fc.constantFrom(' && ', ' || ', ' | ', '; ', '\n', ' & '), tie('script'))
      .map((parts) => parts.join('')),
    tie('script').map((inner) => `(${inner})`),
    tie('script').map((inner) => `{ ${inner}; }`),
    tie('script').map((inner) => `if true; then ${inner}; fi`),
    tie('script').map((inner) => `for i in 1 2; do ${inner}; done`),
    tie('script').map((inner) => `echo "$(${inner})"`),
    tie('script').map((inner) => `cat <<END\n$(${inner})\nEND\n`),
    tie('script').map((inner) => `while false; do ${inner}; done`),
    tie('script').map((inner) => `case x in a) ${inner} ;; esac`),
  ),
}));

describe('a second parser', () => {
  test('finds the same commands in 2,000 generated scripts that both understand', () => {
    let both = 0;
    fc.assert(
      fc.property(script, (source) => {
        const theirs = countCommands(source);
        const { commands, problems } = parseScript(source);
        if (theirs === undefined || problems.length > 0) return;
        both++;
        const ours = commands.filter(({ words }) => words.length > 0).length;
        expect([source, ours]).toEqual([source, theirs]);
      }),
      { numRuns: 2000 },
    );
    expect(both).toBeGreaterThan(1000);
  }, 60_000);

  test('understands every plain script, for which alone an allow rule counts, and finds its commands', () => {
    fc.assert(
      fc.property(script, (source) => {
        const { isPlain, commands } = parseScript(source);
        if (!isPlain) return;
        const ours = commands.filter(({ words }) => words.length > 0).length;
        expect([source, ours]).toEqual([source, countCommands(source)]);
      }),
      { numRuns: 20_000 },
    );
  }, 60_000);
});
