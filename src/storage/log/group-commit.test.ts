import { expect, test } from 'vitest';
import type { SettledWrite, StoreWrite } from './batch.ts';
import { GroupCommit } from './group-commit.ts';

const write: StoreWrite<number> = (batch) => batch.finish() as unknown as ReturnType<StoreWrite<number>>;
const all = (writes: readonly unknown[]): SettledWrite[] => writes.map(() => ({ ok: true, value: 1 }));

test('writes of one turn share a commit, also those that follow from each other before it ends', async () => {
  const sizes: number[] = [];
  const group = new GroupCommit((writes) => {
    sizes.push(writes.length);
    return all(writes);
  });
  const first = Array.from({ length: 5 }, () => group.add(write));
  await Promise.resolve();
  const second = Array.from({ length: 3 }, () => group.add(write));
  await Promise.all([...first, ...second]);
  await group.add(write);
  expect(sizes).toEqual([8, 1]);
});

test('while a commit is under way the next group gathers', async () => {
  const sizes: number[] = [];
  const running: (() => void)[] = [];
  const group = new GroupCommit(async (writes) => {
    sizes.push(writes.length);
    await new Promise<void>((resolve) => running.push(resolve));
    return all(writes);
  });
  const one = group.add(write);
  await until(() => running.length === 1);
  const more = [group.add(write), group.add(write)];
  await turns(3);
  expect(sizes).toEqual([1]);
  running[0]?.();
  await one;
  await until(() => running.length === 2);
  running[1]?.();
  await Promise.all(more);
  expect(sizes).toEqual([1, 2]);
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

async function until(reached: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !reached(); tries++) await turns(1);
}

test('a commit that fails rejects all of its writes, and the next one is tried', async () => {
  let broken = true;
  const group = new GroupCommit((writes) => {
    if (broken) throw new Error('disk full');
    return all(writes);
  });
  const failed = await Promise.allSettled([group.add(write), group.add(write)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  broken = false;
  expect(await group.add(write)).toBe(1);
});

test('a group is as large as one transaction takes, and no larger', async () => {
  const sizes: number[] = [];
  const group = new GroupCommit((writes) => {
    sizes.push(writes.length);
    return all(writes);
  }, 4);
  await Promise.all(Array.from({ length: 10 }, () => group.add(write)));
  expect(sizes).toEqual([4, 4, 2]);
});

test('flush commits what is waiting at once', async () => {
  const group = new GroupCommit(all);
  const written = group.add(write);
  await group.flush();
  expect(await written).toBe(1);
});
