import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { pathFuzz } from './path-fuzz.ts';

test('20,000 generated paths over generated links reach nothing outside', async () => {
  const report = await pathFuzz(20_000, 1, existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
  expect(report.escapes).toEqual([]);
  expect(report.cases).toBe(20_000);
  expect(report.succeeded).toBeGreaterThan(2000);
}, 120_000);
