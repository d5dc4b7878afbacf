import { expect, test } from 'vitest';
import { foldersAbove } from './folders-above.ts';

test('folders above a path come outermost first, without the root', () => {
  expect(foldersAbove('a/b/c')).toEqual(['a', 'a/b']);
  expect(foldersAbove('/a/b/c')).toEqual(['/a', '/a/b']);
  expect(foldersAbove('a')).toEqual([]);
  expect(foldersAbove('')).toEqual([]);
});
