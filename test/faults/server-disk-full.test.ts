import { expect, test } from 'vitest';
import { fillServersDisk } from './server-full-disk.ts';

test('a server whose disk is full says so, stays up, and goes on when there is space again', async () => {
  const { before, whileFull, healthy, after, succeeded } = await fillServersDisk();
  expect(before).toMatchObject({ status: 200, body: { state: 'succeeded' } });
  const failed = whileFull.filter(({ body }) => body.state !== 'succeeded');
  expect(failed.length).toBeGreaterThan(10);
  expect(failed.every(({ status, body }) => status >= 500 || body.state === 'failed')).toBe(true);
  expect(healthy).toBe(true);
  expect(after).toMatchObject({ status: 200, body: { state: 'succeeded' } });
  expect(succeeded).toBeGreaterThanOrEqual(2);
}, 120_000);
