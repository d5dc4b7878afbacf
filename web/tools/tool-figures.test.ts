import { expect, test } from 'vitest';
import { errorText, figuresOf, timesText } from './tool-statistics.ts';

test('times are of the calls that ran; without one there is a dash', () => {
  const durations = Array.from({ length: 100 }, (_, index) => 100 - index);
  const figures = figuresOf({ calls: 120, errors: 6, durations });
  expect([timesText(figures), errorText(figures)]).toEqual(['51 ms / 96 ms', '5 %']);
  expect(timesText(figuresOf({ calls: 1, errors: 0, durations: [] }))).toBe('–');
});
