import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempStage, treeListing } from '../../src/testing/temp-stage.ts';
import { tempWorkspace } from '../../src/testing/temp-workspace.ts';
import { killApplies, killApply } from './apply-crash.ts';

test.each([
  ['from the same file system', undefined],
  ['from another file system', '/dev/shm'],
])(
  'a process that is killed at any step of an apply %s leaves all or nothing',
  async (_where, parent) => {
    const ends = { all: 0, nothing: 0, between: 0 };
    for (let step = 1, isLate = false; !isLate; step++) {
      const killed = await killApply({ step }, parent);
      expect(killed.problems).toEqual([]);
      ends[killed.state]++;
      isLate = killed.isLate;
    }
    expect(ends.nothing).toBeGreaterThan(12);
    expect(ends.all).toBeGreaterThan(0);
  },
  240_000,
);

test('a hundred processes that are killed at any moment of an apply leave all or nothing', async () => {
  const { killed, problems } = await killApplies(100);
  expect(problems).toEqual([]);
  expect(killed).toBeGreaterThan(30);
}, 600_000);

test('a full disk at an apply changes nothing, and the same changes can be kept when there is room', async () => {
  await using ws = await tempWorkspace();
  mkdirSync(ws.file('small'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', ws.file('small')]);
  try {
    writeFileSync(ws.file('small/f.txt'), 'old');
    writeFileSync(ws.file('plain.txt'), 'old');
    const stage = tempStage(ws.workspace, join(ws.outside, 'stage'));
    for (const path of ['small/new.txt', 'small/f.txt']) stage.put(path, 'x'.repeat(600_000));
    for (const path of ['plain.txt', 'new/deep.txt']) stage.put(path, 'new');
    chmodSync(join(stage.folder, 'plain.txt'), 0o600);
    const paths = ['plain.txt', 'new', 'small/new.txt', 'small/f.txt'];
    const changes = await Promise.all(paths.map((path) => stage.take(path)));
    const [before, pending] = [treeListing(ws.root), treeListing(stage.folder)];
    const failed = await stage.apply(changes);
    expect(failed).toMatchObject({ ok: false, error: { code: 'EXECUTION_ERROR', details: { errno: 'ENOSPC' } } });
    expect([treeListing(ws.root), treeListing(stage.folder)]).toEqual([before, pending]);
    execFileSync('mount', ['-o', 'remount,size=4m', ws.file('small')]);
    expect(await stage.apply(changes)).toMatchObject({ ok: true });
    expect(readdirSync(ws.file('small')).sort()).toEqual(['f.txt', 'new.txt']);
    expect(await ws.workspace.undo('command')).toMatchObject({ ok: true });
    expect(treeListing(ws.root)).toEqual(before);
  } finally {
    execFileSync('umount', [ws.file('small')]);
  }
});
