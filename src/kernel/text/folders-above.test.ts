import { expect, test } from 'vitest';
import { foldersAbove, parentOf } from './folders-above.ts';

test('folders above a path come outermost first, without the root', () => {
  expect(foldersAbove('a/b/c')).toEqual(['a', 'a/b']);
  expect(foldersAbove('/a/b/c')).toEqual(['/a', '/a/b']);
  expect(foldersAbove('a')).toEqual([]);
  expect(foldersAbove('')).toEqual([]);
});

test('the folder of a path is empty at the top', () => {
  expect(['a/b/c', '/a/b', 'a', ''].map(parentOf)).toEqual(['a/b', '/a', '', '']);
});
