import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('requests made while it runs share one further run, with the newest result', async () => {
  const ends: ((result: string) => void)[] = [];
  let running = 0;
  const load = coalesce(async () => {
    expect(++running).toBe(1);
    const result = await new Promise<string>((resolve) => ends.push(resolve));
    running--;
    return result;
  });
  const first = load();
  const later = [load(), load(), load()];
  expect(ends).toHaveLength(1);
  ends[0]?.('old');
  expect(await first).toBe('old');
  await expect.poll(() => ends.length).toBe(2);
  const last = load();
  ends[1]?.('new');
  expect(await Promise.all(later)).toEqual(['new', 'new', 'new']);
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.('newest');
  expect(await last).toBe('newest');
  void load();
  expect(ends).toHaveLength(4);
});

test('a failure reaches those who requested that run, and the next run starts all the same', async () => {
  let runs = 0;
  const load = coalesce(async () => {
    if (++runs === 1) throw new Error('down');
    return 'up';
  });
  const [first, second] = await Promise.allSettled([load(), load()]);
  expect(first).toMatchObject({ status: 'rejected' });
  expect(second).toEqual({ status: 'fulfilled', value: 'up' });
});
