import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { pathFuzz } from './path-fuzz.ts';

test('20,000 generated paths over generated links reach nothing outside', async () => {
  const before = openHandles();
  const report = await pathFuzz(20_000, 1, existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
  expect(report.escapes).toEqual([]);
  expect(report.cases).toBe(20_000);
  expect(openHandles()).toBeLessThanOrEqual(before);
  expect(report.succeeded).toBeGreaterThan(2000);
}, 120_000);

function openHandles(): number {
  return readdirSync('/proc/self/fd').length;
}
