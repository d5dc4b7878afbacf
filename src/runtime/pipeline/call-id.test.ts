import { expect, test } from 'vitest';
import { isUnused, newCallId, nextCallId } from './call-scope.ts';

test('an id is unused once, and only if it was given out to be known before its call', () => {
  const id = newCallId();
  expect([isUnused(id), isUnused(id)]).toEqual([true, false]);
  expect(isUnused(nextCallId())).toBe(false);
  expect(isUnused('somebody-1')).toBe(false);
});
