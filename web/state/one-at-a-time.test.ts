import { expect, test } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

test('work that is asked for while it runs runs once more, and then has its newest answer', async () => {
  const asked: ((found: string) => void)[] = [];
  const load = oneAtATime(() => new Promise<string>((resolve) => asked.push(resolve)));
  const first = load();
  const later = [load(), load(), load()];
  expect(asked).toHaveLength(1);
  asked[0]?.('old');
  expect(await first).toBe('old');
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.('new');
  expect(await Promise.all(later)).toEqual(['new', 'new', 'new']);
  const last = load();
  expect(asked).toHaveLength(3);
  asked[2]?.('newest');
  expect(await last).toBe('newest');
});

test('work that failed is told to those who asked for it, and the next runs all the same', async () => {
  let runs = 0;
  const load = oneAtATime(async () => {
    if (++runs === 1) throw new Error('down');
    return 'up';
  });
  const [first, second] = await Promise.allSettled([load(), load()]);
  expect(first).toMatchObject({ status: 'rejected' });
  expect(second).toEqual({ status: 'fulfilled', value: 'up' });
});
