import { expect, test } from 'vitest';
import { compareWithReality, surprisesOf } from './compare.ts';
import { openTracedSandbox } from './traced-sandbox.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

test('a command that runs unasked runs only the programs and touches only the files that the policy said', async () => {
  const { ran, surprises } = await compareWithReality({ count: 3_000, seed: 20_261, path });
  expect(surprises).toEqual([]);
  expect(ran).toBeGreaterThan(300);
}, 600_000);

test('the comparison notices what an unasked command must not do', async () => {
  await using sandbox = await openTracedSandbox(path);
  const hostile = [
    'touch out.txt',
    'sort -o out.txt a.txt',
    './evil.sh',
    'cat ../outside.txt',
    'find . -name a.txt -exec wc {} +; python3 -c 1',
    'echo x > src/new.ts',
    'bash -c "exec 3<>/dev/tcp/127.0.0.1/9"',
  ];
  const touched = await sandbox.trace(hostile);
  hostile.forEach((command, at) => {
    expect([command, surprisesOf(command, touched[at] ?? [], sandbox).length > 0]).toEqual([command, true]);
  });
}, 120_000);
