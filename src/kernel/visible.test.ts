import { expect, test } from 'vitest';
import { visible } from './visible.ts';

test('what can be seen stays as it is, and one unseen character among it is written out', () => {
  const plain = 'all of it ~ can be seen\n\tas it stands';
  expect(visible(plain)).toBe(plain);
  for (const [unseen, written] of [
    ['\r', '\\u000d'],
    ['\u200b', '\\u200b'],
    ['\u202e', '\\u202e'],
    ['\x7f', '\\u007f'],
    ['\u00a0', '\\u00a0'],
  ]) {
    expect(visible(`${plain}${unseen}${plain}`)).toBe(`${plain}${written}${plain}`);
  }
});
