import { expect, test } from 'vitest';
import { judgeCorpus } from './judge-corpus.ts';

test('of realistic secret files at least 98 % are found, of harmless ones at most 2 % refused', () => {
  const { secret, harmless, missed, refused } = judgeCorpus();
  expect([secret >= 220, harmless >= 200]).toEqual([true, true]);
  expect(missed.length / secret, missed.join(', ')).toBeLessThanOrEqual(0.02);
  expect(refused.length / harmless, refused.join(', ')).toBeLessThanOrEqual(0.02);
});
