import { expect, test } from 'vitest';
import type { ChangeItem } from './approval.ts';
import { readSelection } from './read-selection.ts';

const item = (path: string, more: Partial<ChangeItem> = {}): ChangeItem => ({
  ...{ path, kind: 'modified', class: 'ordinary' },
  ...more,
});
const read = (line: string, ...paths: string[]) => {
  const items = paths.map((path) => item(path, { diff: '@@ -1 +1 @@\n-a\n+b\n' }));
  return readSelection(line, { kind: 'changes', title: 'x', items, total: 1, truncated: false, repository: [] });
};

test('an odd name is typed as it is shown, and chosen exactly', () => {
  expect(read('a\\nb c\\u202e.txt', 'a\nb', 'c\u202e.txt')).toEqual({ selection: { paths: ['a\nb', 'c\u202e.txt'] } });
  expect(read('"x \\n y/z:1"', 'x \n y/z')).toEqual({ selection: { paths: ['x \n y/z'], hunks: { 'x \n y/z': [1] } } });
  expect(read('x\\n/z:1', 'x\n/z')).toEqual({ selection: { paths: ['x\n/z'], hunks: { 'x\n/z': [1] } } });
  expect(read('x\\n', 'x\n/z', 'x\n/y')).toEqual({ selection: { paths: ['x\n'] } });
  expect(read('"say \\"hi\\".txt"', 'say "hi".txt')).toEqual({ selection: { paths: ['say "hi".txt'] } });
});

test('a name that is exactly what was typed comes first, and one that two are shown as is refused', () => {
  expect(read('a\\nb', 'a\\nb', 'a\nb')).toEqual({ selection: { paths: ['a\\nb'] } });
  expect(read('\\u202e\\n', '\\u202e\n', '\u202e\\n')).toEqual({ unknown: '\\u202e\\n' });
});
