import { expect, test } from 'vitest';
import { follow } from './reload-on-change.ts';
import { createStore } from './store.ts';

/** A line on which answers come when the test says so. */
function slowLine() {
  const asked: ((found: string) => void)[] = [];
  const heard: string[] = [];
  const load = () => new Promise<string>((resolve) => asked.push(resolve));
  return { asked, heard, load, listener: { onLoaded: (found: string) => heard.push(found), onTrouble: () => {} } };
}

test('an answer that is slow is heard although much changed meanwhile, and then one more is asked for', async () => {
  const { asked, heard, load, listener } = slowLine();
  const changes = createStore(0);
  const end = follow(changes, 1, load, listener);
  for (let change = 1; change < 10; change++) changes.set(change);
  expect(asked).toHaveLength(1);
  asked[0]?.('first');
  await expect.poll(() => asked.length).toBe(2);
  asked[1]?.('second');
  await expect.poll(() => heard).toEqual(['first', 'second']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toHaveLength(2);
  changes.set(10);
  expect(asked).toHaveLength(3);
  end();
});

test('after the end no answer is heard and nothing is asked for', async () => {
  const { asked, heard, load, listener } = slowLine();
  const changes = createStore(0);
  const end = follow(changes, 1, load, listener);
  changes.set(1);
  end();
  asked[0]?.('too late');
  await new Promise((resolve) => setTimeout(resolve, 20));
  changes.set(2);
  expect([heard, asked.length]).toEqual([[], 1]);
});

test('a load that fails is told, and the next change is followed', async () => {
  const told: unknown[] = [];
  const changes = createStore(0);
  const load = async () => {
    if (changes.get() === 0) throw new Error('down');
    return 'up';
  };
  const end = follow(changes, 1, load, {
    onLoaded: (found) => told.push(found),
    onTrouble: (error) => told.push((error as Error).message),
  });
  await expect.poll(() => told).toEqual(['down']);
  changes.set(1);
  await expect.poll(() => told).toEqual(['down', 'up']);
  end();
});
