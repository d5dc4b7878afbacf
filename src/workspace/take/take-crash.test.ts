import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Change } from '../../kernel/world/workspace.ts';
import { tempStage, treeListing } from '../../testing/temp-stage.ts';
import { type TempWorkspace, tempWorkspace } from '../../testing/temp-workspace.ts';
import { openWorkspace } from '../open-workspace.ts';

const source = (path: string) => new URL(path, import.meta.url);

/** Applies the changes that it is sent, and dies at the n-th failpoint or when it is told to. */
const SCRIPT = `
  import { armFailpoints } from '${source('../../kernel/failpoint.ts')}';
  import { tempStage } from '${source('../../testing/temp-stage.ts')}';
  import { openWorkspace } from '${source('../open-workspace.ts')}';
  process.on('message', async ({ root, folder, stage, changes, at }) => {
    const world = await openWorkspace({ root, journal: { folder } });
    let passed = 0;
    armFailpoints(() => ++passed === at && process.kill(process.pid, 'SIGKILL'));
    process.send('begun');
    const { ok } = await tempStage(world, stage).apply(changes);
    world.close();
    process.send({ ok, passed });
  });
  process.send('ready');`;

interface CrashScene {
  readonly ws: TempWorkspace;
  readonly stage: string;
  readonly changes: readonly Change[];
  readonly before: Record<string, string>;
  readonly pending: Record<string, string>;
}

async function scene(parent?: string): Promise<CrashScene & AsyncDisposable> {
  const files = {
    'a.txt': 'a',
    'b/c.txt': 'c',
    'm.sh': 'm',
    f2d: 'f',
    'd2f/in': 'i',
    'tree/x/y': 'y',
    'gone.txt': 'g',
  };
  const ws = await tempWorkspace({ files });
  symlinkSync('a.txt', ws.file('link'));
  const folder = parent === undefined ? join(ws.outside, 'stage') : mkdtempSync(join(parent, 'stage-'));
  const stage = tempStage(ws.workspace, folder);
  for (const path of ['a.txt', 'b/c.txt', 'new.txt', 'n/e/w', 'dir/in/side', 'f2d/in', 'd2f'])
    stage.put(path, `new ${path}`);
  stage.put('link', { target: 'm.sh' });
  const changes: Change[] = [
    ...(await Promise.all(['a.txt', 'b/c.txt', 'new.txt', 'n/e/w', 'dir', 'link'].map((path) => stage.take(path)))),
    { kind: 'mode', path: 'm.sh', mode: 0o755, expect: { version: null } },
    ...(await Promise.all(['f2d', 'd2f', 'tree', 'gone.txt'].map((path) => stage.remove(path)))),
    await stage.take('f2d/in', { expect: 'absent' }),
    await stage.take('d2f', { expect: 'absent' }),
  ];
  const about = { before: treeListing(ws.root), pending: treeListing(folder) };
  return {
    ...{ ws, stage: folder, changes, ...about },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
      await ws[Symbol.asyncDispose]();
    },
  };
}

async function ready() {
  const node = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT];
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

/** Returns what became of it: all, or nothing with the stage as it was. Fails for anything between. */
async function lookAfter({ ws, before, stage, pending }: CrashScene, about: string): Promise<'all' | 'nothing'> {
  for (const _ of [1, 2]) (await openWorkspace({ root: ws.root, journal: { folder: ws.journal } })).close();
  const now = treeListing(ws.root);
  if (now['a.txt'] === before['a.txt']) {
    expect(now, about).toEqual(before);
    expect(treeListing(stage), about).toEqual(pending);
    return 'nothing';
  }
  expect(now, about).toEqual(AFTER);
  const world = await openWorkspace({ root: ws.root, journal: { folder: ws.journal } });
  expect(await world.undo('command'), about).toMatchObject({ ok: true });
  world.close();
  expect(treeListing(ws.root), about).toEqual(before);
  return 'all';
}

const AFTER = {
  'a.txt': 'file 644 new a.txt',
  b: 'folder 755',
  'b/c.txt': 'file 644 new b/c.txt',
  d2f: 'file 644 new d2f',
  dir: 'folder 755',
  'dir/in': 'folder 755',
  'dir/in/side': 'file 644 new dir/in/side',
  f2d: 'folder 755',
  'f2d/in': 'file 644 new f2d/in',
  link: 'symlink m.sh',
  'm.sh': 'file 755 m',
  n: 'folder 755',
  'n/e': 'folder 755',
  'n/e/w': 'file 644 new n/e/w',
  'new.txt': 'file 644 new new.txt',
};

test.each([
  ['from the same file system', undefined],
  ['from another file system', '/dev/shm'],
])(
  'a process that is killed at any step of an apply %s leaves all or nothing',
  async (_where, parent) => {
    const ends = { all: 0, nothing: 0 };
    for (let at = 1; ; at++) {
      await using given = await scene(parent);
      const child = await ready();
      const ended = once(child, 'exit');
      let passed: { passed: number } | undefined;
      child.on('message', (message) => {
        if (typeof message === 'object') passed = message as { passed: number };
        if (typeof message === 'object') child.kill();
      });
      child.send({ root: given.ws.root, folder: given.ws.journal, stage: given.stage, changes: given.changes, at });
      await ended;
      ends[await lookAfter(given, `killed at step ${at}`)]++;
      if (passed !== undefined) break;
    }
    expect(ends.nothing).toBeGreaterThan(12);
    expect(ends.all).toBeGreaterThan(0);
  },
  240_000,
);

test('a hundred processes that are killed at any moment of an apply leave all or nothing', async () => {
  const ends = { all: 0, nothing: 0 };
  const lane = async (first: number) => {
    for (let round = first; round < 100; round += 4) {
      await using given = await scene();
      const child = await ready();
      const ended = once(child, 'exit');
      const begun = once(child, 'message');
      child.send({ root: given.ws.root, folder: given.ws.journal, stage: given.stage, changes: given.changes, at: 0 });
      await begun;
      await delay((round * 7919) % 60);
      child.kill('SIGKILL');
      await ended;
      ends[await lookAfter(given, `round ${round}`)]++;
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  expect(ends.all + ends.nothing).toBe(100);
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
