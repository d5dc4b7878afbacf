import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../kernel/world/sandbox.ts';
import { createPipePool } from './pipes.ts';
import { startProcess } from './start.ts';
import { type ProcessTree, supervise } from './supervise.ts';

const folder = mkdtempSync(join(tmpdir(), 'supervise-'));
const pipes = createPipePool(folder);
afterAll(() => {
  pipes.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a check that throws ends the run and reaches whoever called, and not the whole process', async () => {
  const env = { PATH: '/usr/bin:/bin' };
  const launch = { program: '/bin/sleep', args: ['60'], cwd: '/', env, stdin: 'ignore', passed: [] } as const;
  const started = startProcess(launch, pipes);
  const tree: ProcessTree = {
    check() {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    },
    signal: (name) => started.child.kill(name),
    kill: () => started.child.kill('SIGKILL'),
    isGone: () => true,
  };
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtExceptionMonitor', note);
  await expect(supervise(started, { limits: DEFAULT_LIMITS, folder, signals: [], tree: () => tree })).rejects.toThrow(
    'EACCES',
  );
  process.off('uncaughtExceptionMonitor', note);
  expect(uncaught).toEqual([]);
  expect(started.child.signalCode).toBe('SIGKILL');
});
