import { expect, test } from 'vitest';
import type { ChangeItem } from '../../src/protocol/preview.ts';
import { ALL_TICKED, isPartial, toSelection, withHunk, withItems, withText } from './changes-selection.ts';
import { groupChanges } from './group-changes.ts';

const file: ChangeItem = {
  ...{ path: 'src/a.ts', kind: 'modified', class: 'ordinary', added: 2, removed: 2 },
  diff: '@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n',
};
const added: ChangeItem = { path: 'dist', kind: 'created', class: 'new', entries: 3, bytes: 9 };
const secret: ChangeItem = { path: '.env', kind: 'created', class: 'sensitive' };
const hook: ChangeItem = { path: '.git/hooks/pre-commit', kind: 'created', class: 'protected' };
const items = [file, added, secret, hook];

test('protected changes come first, those that are never kept last', () => {
  expect(groupChanges(items).map(({ name }) => name)).toEqual(['protected', 'changed', 'new', 'never']);
});

test('everything that may be kept is ticked at first, and that is no part', () => {
  expect(isPartial(ALL_TICKED, items)).toBe(false);
  expect(toSelection(ALL_TICKED, items)).toEqual({ paths: ['src/a.ts', 'dist', '.git/hooks/pre-commit'] });
});

test('a hunk, a file and an edited text are sent by their numbers and paths', () => {
  const oneHunk = withHunk(withItems(ALL_TICKED, [added, hook], 'off'), file, 1);
  expect(isPartial(oneHunk, items)).toBe(true);
  expect(toSelection(oneHunk, items)).toEqual({ paths: ['src/a.ts'], hunks: { 'src/a.ts': [2] } });
  const edited = withText(oneHunk, 'src/a.ts', 'mine\n');
  expect(toSelection(edited, items)).toEqual({ paths: ['src/a.ts'], texts: { 'src/a.ts': 'mine\n' } });
});

test('leaving out the last hunk leaves out the file, and its tick brings all hunks back', () => {
  const none = withHunk(withHunk(ALL_TICKED, file, 1), file, 2);
  expect(toSelection(none, [file])).toEqual({ paths: [] });
  expect(isPartial(withItems(none, [file], 'on'), [file])).toBe(false);
});
