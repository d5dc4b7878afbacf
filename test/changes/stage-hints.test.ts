import { expect, test } from 'vitest';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';

const HINTS = [
  ['renames a folder that was there', "import os; os.rename('src', 'lib')", 'use mv, or move_file'],
  ['changes a file of another user', 'raise OSError(75, os.strerror(75))', 'A file of another user cannot be changed'],
] as const;

test.each(HINTS)('a program that %s is told the way around', async (_what, code, hint) => {
  await using ws = await commandWorkspace({ path: '/usr/bin:/bin', files: { 'src/a.txt': 'a\n' } });
  const ran = await ws.call('run_code', { language: 'python', code: `import os; ${code}` });
  const ended = await ws.call('run_code', { language: 'bash', code: 'echo "Invalid cross-device link"' });
  expect(ran.text).toContain(hint);
  expect(ended.text).not.toContain('move_file');
});

test('mv renames such a folder', async () => {
  await using ws = await commandWorkspace({ path: '/usr/bin:/bin', mode: 'auto', files: { 'src/a.txt': 'a\n' } });
  const ran = await ws.call('bash', { command: 'mv src lib && cat lib/a.txt' });
  expect(ran.value).toMatchObject({ stdout: 'a\n', exitCode: 0, changed: { state: 'kept' } });
});
