import { afterAll, expect, test } from 'vitest';
import { trySandbox } from '../testing/try-sandbox.ts';

const at = trySandbox({ path: process.env['PATH'] ?? '' });
afterAll(() => at[Symbol.asyncDispose]());

test('a list of changes is not complete where a folder was not looked into', async () => {
  at.write('node_modules/a/x.js', '1');
  const { changes } = await at.sh('echo 2 > node_modules/a/x.js; echo 3 > seen.txt', { changes: 'report' });
  expect(changes).toMatchObject({ created: ['seen.txt'], complete: false });
});
