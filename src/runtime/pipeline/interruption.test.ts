import { expect, onTestFinished, test, vi } from 'vitest';
import { interruptible } from './interruption.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('a wait that is longer than any timer lasts as long as it should', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let ended: unknown;
  interruptible(new Promise(() => {}), 60 * DAY_MS).catch((thrown: unknown) => {
    ended = thrown;
  });
  await vi.advanceTimersByTimeAsync(59 * DAY_MS);
  expect(ended).toBe(undefined);
  await vi.advanceTimersByTimeAsync(2 * DAY_MS);
  expect(ended).toMatchObject({ why: 'timeout' });
});
