import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../kernel/world/sandbox.ts';
import { type PsRow, parsePs, psTree } from './ps-tree.ts';

const row = (pid: number, parent: number, more: Partial<PsRow> = {}): PsRow => {
  return { pid, parent, group: pid, memoryBytes: 0, isDead: false, cpuMs: 0, began: 'then', isMarked: false, ...more };
};

test('what ps says is read as both systems write it', () => {
  const rows = parsePs(
    [
      '    1     0     1  11264 Ss       00:00:05 Sun Nov 15 09:05:00 2026',
      ' 4711     1  4711    512 Z   1-02:03:04 Sun Nov 15 09:06:00 2026',
      '   88    80    80   2048 S+      12:03.50 Sun Nov 15 09:07:00 2026 sleep 9 A=b RUN=1 C=d',
      '',
    ].join('\n'),
    'RUN=1',
  );
  expect(rows.map(({ cpuMs }) => cpuMs)).toEqual([5_000, 93_784_000, 723_500]);
  expect(rows[1]).toMatchObject({ pid: 4711, parent: 1, group: 4711, memoryBytes: 524_288, isDead: true });
  expect(rows[2]?.began).toBe('Sun Nov 15 09:07:00 2026');
  expect(rows.map(({ isMarked }) => isMarked)).toEqual([false, false, true]);
});

test('a process that was seen stays one of the run when its parent has ended, and its number is not taken for it', () => {
  let rows = [row(10, 1), row(11, 10), row(12, 11), row(99, 1)];
  const tree = psTree(10, 'RUN=1', () => rows);
  expect(tree.check({ ...DEFAULT_LIMITS, processes: 2 })).toBe('processes');
  rows = [row(12, 1), row(99, 1)];
  expect(tree.isGone()).toBe(false);
  rows = [row(12, 1, { began: 'later' }), row(99, 1)];
  expect(tree.isGone()).toBe(true);
});

test('memory and processor time of the tree are added up, those of the dead included', () => {
  let rows = [row(10, 1, { cpuMs: 100, memoryBytes: 60 }), row(11, 10, { cpuMs: 700, memoryBytes: 50 })];
  const tree = psTree(10, 'RUN=1', () => rows);
  expect(tree.check({ ...DEFAULT_LIMITS, memoryBytes: 100 })).toBe('memory');
  rows = [row(10, 1, { cpuMs: 250, memoryBytes: 10 })];
  expect(tree.check({ ...DEFAULT_LIMITS, cpuMs: 900 })).toBe('cpu');
  expect(tree.used()).toEqual({ cpuMs: 950, peakMemoryBytes: 110 });
});

test('a run is ended also when nobody can look at it any more', async () => {
  const run = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  let looks = 0;
  const tree = psTree(run.pid ?? 0, 'RUN=1', () => {
    if (looks++ > 0) throw new Error('spawnSync /bin/ps EAGAIN');
    return [row(run.pid ?? 0, process.pid)];
  });
  expect(tree.check(DEFAULT_LIMITS)).toBe(null);
  expect(() => tree.check(DEFAULT_LIMITS)).toThrow('EAGAIN');
  tree.kill();
  const [, signal] = await once(run, 'exit');
  expect([signal, tree.isGone()]).toEqual(['SIGKILL', false]);
});
