import { expect, test } from 'vitest';
import { linkRaces, outsideEditor, twoWriters } from './races.ts';

test('links swapped during 200 rounds of reading, writing, deleting and searching lead nothing outside', async () => {
  const report = await linkRaces(200);
  expect(report.escapes).toEqual([]);
  expect(report.succeeded).toBeGreaterThan(100);
}, 120_000);

test('two sessions that edit one file at once lose no edit', async () => {
  const { made, lost } = await twoWriters(100);
  expect(lost).toEqual([]);
  expect(made).toBeGreaterThan(100);
}, 60_000);

test('a file that an editor replaces all the time is written or refused with CONFLICT', async () => {
  const { written, refused, odd } = await outsideEditor(200);
  expect(odd).toEqual([]);
  expect(written + refused).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(0);
}, 60_000);
