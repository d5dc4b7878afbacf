import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { identify } from '../../host/process-identity.ts';
import { DEFAULT_LIMITS } from '../../kernel/world/sandbox.ts';
import { namespaceTree } from '../bubblewrap/namespace-tree.ts';
import { type PsRow, psTree } from './ps-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'numbers-'));
const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
const { pid = 0 } = stranger;
afterAll(() => {
  stranger.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const isAlive = () => stranger.exitCode === null && stranger.signalCode === null && identify(pid).isRunning();

test('a run whose first process has ended leaves the next process of that number alone', async () => {
  const path = join(folder, 'status');
  writeFileSync(path, `{ "child-pid": ${pid} }\n`);
  const status = openSync(path, 'r');
  const monitor = spawn('true');
  await once(monitor, 'exit');
  const tree = namespaceTree({ monitor, status, cgroup: null, disk: null });
  expect(tree.check({ ...DEFAULT_LIMITS, processes: 0 })).toBe(null);
  expect(tree.isGone()).toBe(true);
  tree.signal('SIGTERM');
  tree.kill();
  closeSync(status);
  expect(isAlive()).toBe(true);
});

test('a run that could not be started changes nothing of ours', async () => {
  const path = join(folder, 'nothing');
  writeFileSync(path, '');
  const status = openSync(path, 'r');
  const monitor = spawn('/nonexistent/bwrap');
  await once(monitor, 'error');
  const before = getPriority();
  const tree = namespaceTree({ monitor, status, cgroup: null, disk: null });
  tree.kill();
  expect(tree.isGone()).toBe(true);
  closeSync(status);
  expect(getPriority()).toBe(before);
});

test('what a number meant when it was looked at is told from what it means later', () => {
  const now = identify(pid);
  expect([now.isRunning(), now.isReplaced()]).toEqual([true, false]);
  const earlier = identify(pid, '1');
  expect([earlier.isRunning(), earlier.isReplaced()]).toEqual([false, true]);
  const ended = identify(2 ** 30);
  expect([ended.isRunning(), ended.isReplaced()]).toEqual([false, false]);
});

test('a run that is found by ps does not take the next process of its number for its own', () => {
  const row = { pid: 10, parent: 1, group: 10, memoryBytes: 0, isDead: false, cpuMs: 0, isMarked: false };
  const rows: PsRow[] = [{ ...row, began: 'then' }];
  const tree = psTree(10, 'RUN=1', () => rows);
  expect(tree.isGone()).toBe(false);
  rows.splice(0, 1, { ...row, began: 'later' }, { ...row, pid: 11, began: 'later' });
  expect(tree.isGone()).toBe(true);
});
