import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { trySandbox } from '../../testing/try-sandbox.ts';

const at = trySandbox({ path: process.env['PATH'] ?? '' });
afterAll(() => at[Symbol.asyncDispose]());

test('a list of changes is not complete where a folder was not looked into', async () => {
  at.write('node_modules/a/x.js', '1');
  const { changes } = await at.sh('echo 2 > node_modules/a/x.js; echo 3 > seen.txt', { changes: 'report' });
  expect(changes).toMatchObject({ created: ['seen.txt'], complete: false });
});

test('a link into packages that comes or goes is one change, and not one for each file behind it', async () => {
  at.write('node_modules/b/y.js', '1');
  // A write within a clock tick before a run may count as a write of the run.
  await delay(100);
  const made = await at.sh('ln -s node_modules/b b', { changes: 'report' });
  expect(made.changes).toEqual({ created: ['b'], modified: [], deleted: [], complete: false });
  await delay(100);
  const removed = await at.sh('rm b', { changes: 'report' });
  expect(removed.changes).toEqual({ created: [], modified: [], deleted: ['b'], complete: false });
});
