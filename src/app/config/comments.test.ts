import { expect, test } from 'vitest';
import { withoutComments } from './config-file.ts';

test.each([
  ['{ // a\n "b": 1 /* c\n d */ }', '{     \n "b": 1     \n      }'],
  ['"// no /* comment */ \\" // here"', '"// no /* comment */ \\" // here"'],
  ['1 /* never closed // ', '1 /* never closed // '],
  ['1 /*/', '1 /*/'],
  ['"never closed // \\', '"never closed // \\'],
])('%j becomes %j', (text, plain) => {
  expect(withoutComments(text)).toBe(plain);
});

test.each([
  ['quotes', `"${'\\"'.repeat(500_000)}`],
  ['quotes before a joined line', `"${'\\"'.repeat(500_000)}\\\n`],
  ['comments', '/* '.repeat(300_000)],
])('%s that nothing closes take no longer than their length asks for', (_what, text) => {
  const started = performance.now();
  expect(withoutComments(text)).toBe(text);
  expect(performance.now() - started).toBeLessThan(3_000);
});
