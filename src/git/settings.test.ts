import { expect, test } from 'vitest';
import { namedPaths, readSettings } from './settings.ts';

test.each([
  ['a/hooks', 'a/hooks'],
  ['a/hooks  # remark', 'a/hooks'],
  ['a b ; remark # more', 'a b'],
  ['"a # b" ; remark', 'a # b'],
  ['a/hooks # remark\u2028and more of it', 'a/hooks'],
  ['"a/hooks" # remark\u2028and more of it', 'a/hooks'],
  ['a\u2028b', 'a\u2028b'],
])('hooks in %j are in %j', (value, path) => {
  expect(namedPaths(`[core]\n\thooksPath = ${value}\n`).hooks).toEqual([path]);
});

test.each([
  ['blanks', `x = a${' '.repeat(500_000)}b`],
  ['blanks before a separator of lines', `x =${' '.repeat(500_000)}a\u2028b`],
  ['remarks before a separator of lines', `x = a${' #'.repeat(250_000)}\u2028b`],
])('many %s take no longer than their length asks for', (_what, line) => {
  const started = performance.now();
  expect(readSettings(`[core]\n${line}`)).toMatchObject([{ key: 'core.x' }]);
  expect(namedPaths(`[core]\n${line}`).hooks).toEqual([]);
  expect(performance.now() - started).toBeLessThan(3_000);
});
