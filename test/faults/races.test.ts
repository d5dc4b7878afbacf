import { expect, test } from 'vitest';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import { createPolicy } from '../../src/policy/create-policy.ts';
import { linkRaces, outsideEditor, twoWriters } from './races.ts';

test('links swapped during 200 rounds of reading, writing, deleting and searching lead nothing outside', async () => {
  const report = await linkRaces(200);
  expect(report.escapes).toEqual([]);
  expect(report.succeeded).toBeGreaterThan(100);
}, 120_000);

test('two sessions that edit one file at once lose no edit, and an edit that waited is planned again', async () => {
  const policy = createPolicy({ mode: 'auto', rules: [], files: createFilePolicy(), home: '/nowhere' });
  const { made, refused, lost } = await twoWriters(100, { policy });
  expect(lost).toEqual([]);
  expect({ made, refused }).toEqual({ made: 200, refused: [] });
}, 60_000);

test('of two edits that a person approved for one version of a file one runs, and the other is refused', async () => {
  const { made, refused, lost } = await twoWriters(100);
  expect(lost).toEqual([]);
  expect(made + refused.length).toBe(200);
  expect(made).toBeGreaterThanOrEqual(100);
  expect(refused.filter((message) => !message.includes('has changed since approval'))).toEqual([]);
}, 60_000);

test('a file that an editor replaces all the time is written or refused with CONFLICT', async () => {
  const { written, refused, odd } = await outsideEditor(200);
  expect(odd).toEqual([]);
  expect(written + refused).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(0);
}, 60_000);
