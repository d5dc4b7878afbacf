import { expect, test } from 'vitest';
import type { ClassifiedChange } from '../../kernel/world/stage.ts';
import { toKeptChanges } from './to-kept-changes.ts';

function change(path: string, of: Partial<ClassifiedChange> = {}): ClassifiedChange {
  return { path, kind: 'created', class: 'new', before: null, after: null, ...of };
}

test('files are counted without the folders they are in, also of many', () => {
  const paths = Array.from({ length: 10_000 }, (_, at) => [`d${at}`, `d${at}/e`, `d${at}/e/f.txt`]).flat();
  const kept = [...paths, 'empty'].map((path) => change(path));
  const started = performance.now();
  const outcome = toKeptChanges({ kept: [...kept, change('d1', { kind: 'deleted' })], left: [] }, []);
  expect(outcome).toMatchObject({ state: 'kept', counts: { created: 10_001, deleted: 1 }, deleted: ['d1'] });
  expect(outcome.created).toHaveLength(100);
  expect(outcome.created.slice(0, 2)).toEqual(['d0/e/f.txt', 'd1/e/f.txt']);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("git's own data is one thing, and no file of the project", () => {
  const data = ['.git/index', '.git/objects/ab/cd'].map((path) => change(path, { class: 'repository' }));
  const { counts, created, total } = toKeptChanges({ kept: [...data, change('a.txt')], left: [] }, []);
  expect([counts.created, counts.repository, created, total]).toEqual([1, 2, ['a.txt'], 3]);
});

test('a file that a person gave another text is not simply kept', () => {
  const outcome = toKeptChanges({ kept: [change('a.txt')], left: [] }, ['a.txt']);
  expect(outcome).toMatchObject({ state: 'partly kept', reason: 'Kept with changes by a person: a.txt.' });
});
