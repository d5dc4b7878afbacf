import { expect, test } from 'vitest';
import type { ProcessSample } from '../../host/proc.ts';
import { createTreeUsageCounter } from './tree-usage.ts';

function sample(pid: number, parent: number, writtenBytes: number, startTime = '1'): ProcessSample {
  return { pid, parent, startTime, cpuMs: writtenBytes, memoryBytes: 0, sharedBytes: 0, threads: 1, writtenBytes };
}

test('children that nobody waits for stay counted', () => {
  const tally = createTreeUsageCounter(1);
  for (let child = 2; child < 12; child++) tally.add([sample(1, 0, 0), sample(child, 1, 5)]);
  expect(tally.add([sample(1, 0, 0)])).toEqual({ cpuMs: 50, writtenBytes: 50 });
});

test('what a parent takes over from a child is counted once', () => {
  const tally = createTreeUsageCounter(1);
  tally.add([sample(1, 0, 10), sample(2, 1, 5), sample(3, 2, 7)]);
  tally.add([sample(1, 0, 10), sample(2, 1, 12)]);
  expect(tally.add([sample(1, 0, 22)]).writtenBytes).toBe(22);
  expect(tally.add([sample(1, 0, 24)]).writtenBytes).toBe(24);
});

test('what the first process takes over from an orphan is counted once', () => {
  const tally = createTreeUsageCounter(1);
  tally.add([sample(1, 0, 0), sample(2, 1, 5), sample(3, 2, 7)]);
  expect(tally.add([sample(1, 0, 12)]).writtenBytes).toBe(12);
});

test('a number that is used again is another process', () => {
  const tally = createTreeUsageCounter(1);
  tally.add([sample(1, 0, 0), sample(2, 1, 5)]);
  expect(tally.add([sample(1, 0, 0), sample(2, 1, 3, '2')]).writtenBytes).toBe(8);
});
