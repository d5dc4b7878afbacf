import { expect, test } from 'vitest';
import type { ProcessRun } from './access-judgement.ts';
import { planOfRun } from './plan-of-run.ts';

const run = (command: string): ProcessRun => ({ kind: 'process.run', command, writes: 'stage' });

test('whoever judges the same access is given the same plan', () => {
  const access = run('ls && git push');
  expect(planOfRun(access)).toBe(planOfRun(access));
  expect(planOfRun(access).uses.map(({ name }) => name)).toEqual(['ls', 'git']);
});

test('an access that a tool changes in place is read again', () => {
  const access = { ...run('ls') };
  expect(planOfRun(access).uses.map(({ name }) => name)).toEqual(['ls']);
  access.command = 'git push';
  expect(planOfRun(access).uses.map(({ name }) => name)).toEqual(['git']);
});

test('code in another language than bash has no commands', () => {
  expect(planOfRun({ ...run('ls'), code: 'python' }).uses).toEqual([]);
});
