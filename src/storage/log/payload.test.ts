import { expect, test } from 'vitest';
import { toJson } from './payload.ts';

test('what JSON cannot hold becomes words', () => {
  const circle: Record<string, unknown> = { big: 10n, list: [] };
  circle.self = circle;
  (circle.list as unknown[]).push(circle, { again: circle });
  expect(JSON.parse(toJson(circle))).toEqual({
    big: '10',
    self: '[circular]',
    list: ['[circular]', { again: '[circular]' }],
  });
  expect([toJson(undefined), toJson(() => 1), toJson(null)]).toEqual(['null', 'null', 'null']);
});

test('the same object twice is no circle', () => {
  const same = { a: 1n };
  expect(JSON.parse(toJson([same, same]))).toEqual([{ a: '1' }, { a: '1' }]);
});
