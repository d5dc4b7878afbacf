import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { fail } from '../kernel/result.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { trySandbox } from '../testing/try-sandbox.ts';
import { CommittedSecrets } from './committed-secrets.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';

test('a look that failed is no answer, and the next one looks again', async () => {
  await using at = trySandbox({ path });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], { cwd: at.workspace });
  at.write('.env', 'KEY=1');
  git('init', '-q');
  git('add', '-f', '.env');
  git('commit', '-qm', 'x');
  let state: 'failing' | 'throwing' | 'well' = 'failing';
  const sandbox: Sandbox = {
    ...at.sandbox,
    async run(request) {
      if (state === 'throwing') throw new Error('too many open files');
      return state === 'well' ? at.sandbox.run(request) : fail('SANDBOX_UNAVAILABLE', 'too many open files');
    },
  };
  const tracked = new CommittedSecrets(sandbox, createFilePolicy());
  expect(await tracked.find(at.workspace, '.', {})).toBe('files that could not be looked up');
  state = 'throwing';
  await expect(tracked.find(at.workspace, '.', {})).rejects.toThrow('too many open files');
  state = 'well';
  expect(await tracked.find(at.workspace, '.', {})).toBe('.env');
});
