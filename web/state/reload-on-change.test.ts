import { expect, test } from 'vitest';
import { reloadOnChange } from './reload-on-change.ts';
import { createStore } from './store.ts';

/** A connection on which responses arrive when the test says so. */
function slowLine() {
  const asked: ((found: string) => void)[] = [];
  const heard: string[] = [];
  const load = () => new Promise<string>((resolve) => asked.push(resolve));
  const reload = { pauseMs: 1, load, onLoaded: (found: string) => heard.push(found), onTrouble: () => {} };
  return { asked, heard, reload };
}

test('a slow response is delivered although the store changed meanwhile, and one more load follows', async () => {
  const { asked, heard, reload } = slowLine();
  const changes = createStore(0);
  const end = reloadOnChange(changes, reload);
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

test('after the end no response is delivered and nothing is loaded', async () => {
  const { asked, heard, reload } = slowLine();
  const changes = createStore(0);
  const end = reloadOnChange(changes, reload);
  changes.set(1);
  end();
  asked[0]?.('too late');
  await new Promise((resolve) => setTimeout(resolve, 20));
  changes.set(2);
  expect([heard, asked.length]).toEqual([[], 1]);
});

test('a failed load is reported, and the next change loads again', async () => {
  const told: unknown[] = [];
  const changes = createStore(0);
  const load = async () => {
    if (changes.get() === 0) throw new Error('down');
    return 'up';
  };
  const end = reloadOnChange(changes, {
    pauseMs: 1,
    load,
    onLoaded: (found) => told.push(found),
    onTrouble: (error) => told.push((error as Error).message),
  });
  await expect.poll(() => told).toEqual(['down']);
  changes.set(1);
  await expect.poll(() => told).toEqual(['down', 'up']);
  end();
});
