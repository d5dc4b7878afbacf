import { expect, test } from 'vitest';
import { formatErrorRate, formatTimes, toStatistics } from './tool-statistics.ts';

test('times count only the calls that ran; without any there is a dash', () => {
  const durations = Array.from({ length: 100 }, (_, index) => 100 - index);
  const figures = toStatistics({ calls: 120, errors: 6, durations });
  expect([formatTimes(figures), formatErrorRate(figures)]).toEqual(['51 ms / 96 ms', '5 %']);
  expect(formatTimes(toStatistics({ calls: 1, errors: 0, durations: [] }))).toBe('–');
});
