import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';

const RENAME = `python3 -c "import os; os.rename('src', 'lib')"`;

test.each([RENAME, `${RENAME} || true`])(
  'a program that renames a folder is told the way around: %s',
  async (command) => {
    await using ws = await commandWorkspace({ path: '/usr/bin:/bin', files: { 'src/a.txt': 'a\n' } });
    const ran = await ws.call('bash', { command });
    expect(ran.text).toMatch(/use mv, or move_file/);
  },
);

test('a program that changes a file of another user is told so', async () => {
  // Only root can make such a file; for others the program says what the system would.
  const text = process.getuid?.() === 0 ? await changeForeignFile() : await sayOverflow();
  expect(text).toMatch(/Value too large for defined data type.*A file of another user cannot be changed here/s);
});

async function changeForeignFile(): Promise<string> {
  const program = new URL('change-foreign-file.mjs', import.meta.url).pathname;
  return (await promisify(execFile)(process.execPath, [program])).stdout;
}

async function sayOverflow(): Promise<string> {
  await using ws = await commandWorkspace({ path: '/usr/bin:/bin' });
  const code = 'import os; raise OSError(75, os.strerror(75))';
  return (await ws.call('run_code', { language: 'python', code })).text;
}

test('mv renames such a folder', async () => {
  await using ws = await commandWorkspace({ path: '/usr/bin:/bin', mode: 'auto', files: { 'src/a.txt': 'a\n' } });
  const ran = await ws.call('bash', { command: 'mv src lib && cat lib/a.txt' });
  expect(ran.value).toMatchObject({ stdout: 'a\n', exitCode: 0, changed: { state: 'kept' } });
});
