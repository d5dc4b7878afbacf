import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

test('one owner gets its share, and leaves the rest of the places to others', () => {
  const places = new Quota({ max: 5, share: 3 });
  expect([1, 2, 3, 4].map(() => places.take('greedy'))).toEqual([null, null, null, 'own']);
  expect([1, 2, 3].map(() => places.take('other'))).toEqual([null, null, 'all']);
  places.release('greedy');
  expect(places.take('greedy')).toBe(null);
  for (const owner of ['greedy', 'greedy', 'greedy', 'greedy', 'other', 'other']) places.release(owner);
  expect(Array.from({ length: 4 }, () => places.take('greedy'))).toEqual([null, null, null, 'own']);
});
