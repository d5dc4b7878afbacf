import { expect, test } from 'vitest';
import { oneAtATime } from '../kernel/coalesce.ts';

test('those who ask while it runs share the next run, also when the one before failed', async () => {
  const ends: (() => void)[] = [];
  let running = 0;
  const ask = oneAtATime(async () => {
    expect(++running).toBe(1);
    const run = ends.length + 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
    if (run === 1) throw new Error('the first fails');
    return run;
  });
  const first = ask().catch(() => 'failed');
  const [second, third] = [ask(), ask()];
  ends[0]?.();
  expect(await first).toBe('failed');
  await expect.poll(() => ends.length).toBe(2);
  const fourth = ask();
  ends[1]?.();
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  expect(await fourth).toBe(3);
});
