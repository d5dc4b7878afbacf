import { expect, test } from 'vitest';
import { plainText } from './terminal-text.ts';

test.each([
  ['10%\r50%\r100%\ndone\r\n', '100%\ndone\n'],
  ['a\r\rb\r', 'b'],
  ['a\r', 'a'],
  ['\r\r\n\r', '\n'],
  ['\u001b[31mred\u001b[0m\tand\u0007 blue', 'red\tand blue'],
  [
    '\u001b]0;My title\u0007a\u001b]8;;https://a.test/b?c=1#d\u001b\\link\u001b]8;;\u001b\\\u009b1;31mb\u009b0m',
    'alinkb',
  ],
  ['\u001b]0;Xy\nnext\u0007', ';Xy\nnext'],
  ['\u001b[?25l\u001b[2K\u001b[10;20H\u001b(Ba\u001b7\u001b=\u001bP1;2q\u001b\\', 'a'],
])('%j is read as %j', (output, read) => {
  expect(plainText(output)).toBe(read);
});

test('a line of megabytes takes no longer than its length asks for', () => {
  const line = 'x'.repeat(4_000_000);
  const started = performance.now();
  expect(plainText(`${line}\r${line}\n${'\r'.repeat(1_000_000)}`)).toBe(`${line}\n`);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test.each([
  ['signs', `\u001b${';?'.repeat(500_000)}`],
  ['numbers', `\u001b[${'1;'.repeat(500_000)} `],
  ['titles', '\u001b]0;a'.repeat(200_000)],
])('%s after an escape that nothing ends take no longer than their length asks for', (_what, output) => {
  const started = performance.now();
  plainText(output);
  expect(performance.now() - started).toBeLessThan(3_000);
});
