import { expect, test } from 'vitest';
import type { Settled, Unit } from './batch.ts';
import { GroupCommit } from './group-commit.ts';

const unit: Unit<number> = (batch) => batch.finish() as unknown as ReturnType<Unit<number>>;
const all = (units: readonly unknown[]): Settled[] => units.map(() => ({ ok: true, value: 1 }));

test('writes of one turn share a commit, also those that follow from each other before it ends', async () => {
  const sizes: number[] = [];
  const group = new GroupCommit((units) => {
    sizes.push(units.length);
    return all(units);
  });
  const first = Array.from({ length: 5 }, () => group.add(unit));
  await Promise.resolve();
  const second = Array.from({ length: 3 }, () => group.add(unit));
  await Promise.all([...first, ...second]);
  await group.add(unit);
  expect(sizes).toEqual([8, 1]);
});

test('while a commit is under way the next group gathers', async () => {
  const sizes: number[] = [];
  const running: (() => void)[] = [];
  const group = new GroupCommit(async (units) => {
    sizes.push(units.length);
    await new Promise<void>((resolve) => running.push(resolve));
    return all(units);
  });
  const one = group.add(unit);
  await until(() => running.length === 1);
  const more = [group.add(unit), group.add(unit)];
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
  const group = new GroupCommit((units) => {
    if (broken) throw new Error('disk full');
    return all(units);
  });
  const failed = await Promise.allSettled([group.add(unit), group.add(unit)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  broken = false;
  expect(await group.add(unit)).toBe(1);
});

test('a group is as large as one transaction takes, and no larger', async () => {
  const sizes: number[] = [];
  const group = new GroupCommit((units) => {
    sizes.push(units.length);
    return all(units);
  }, 4);
  await Promise.all(Array.from({ length: 10 }, () => group.add(unit)));
  expect(sizes).toEqual([4, 4, 2]);
});

test('flush commits what is waiting at once', async () => {
  const group = new GroupCommit(all);
  const written = group.add(unit);
  await group.flush();
  expect(await written).toBe(1);
});
