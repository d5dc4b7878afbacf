import { expect, test } from 'vitest';
import { armFailpoints, failpoint } from './failpoint.ts';

test('a failpoint does nothing until it is armed, and nothing again afterwards', () => {
  const passed: string[] = [];
  failpoint('one');
  const disarm = armFailpoints((name) => passed.push(name));
  failpoint('two');
  disarm();
  failpoint('three');
  expect(passed).toEqual(['two']);
});
