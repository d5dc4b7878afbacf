import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tempWorkspace } from '../testing/temp-workspace.ts';
import type { ChangeSet } from '../workspace/journal/change-set.ts';
import { openWorkspace } from '../workspace/open-workspace.ts';
import { CrossProcessLock } from './cross-process-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'turns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('however many want it, one has the turn, and everybody gets it', async () => {
  const all = [
    new CrossProcessLock(folder, '/w'),
    new CrossProcessLock(folder, '/w'),
    new CrossProcessLock(folder, '/w'),
  ];
  let inside = 0;
  let most = 0;
  const done = await Promise.all(
    all.map(async (turns) => {
      for (let round = 0; round < 20; round++) {
        await turns.run(async () => {
          most = Math.max(most, ++inside);
          await pause(1);
          inside--;
        });
      }
      return 'done';
    }),
  );
  expect([done.length, most]).toEqual([3, 1]);
  for (const turns of all) turns.release();
});

test('a process that is gone holds nobody up', async () => {
  const turns = new CrossProcessLock(folder, '/dead');
  const place = join(folder, 'turns', Buffer.from('/dead').toString('base64url'));
  writeFileSync(join(place, '999999999-1-ab.turn'), '');
  expect(await turns.run(async () => 'mine')).toBe('mine');
  turns.release();
});

test('a process that has ended and whose parent does not ask for it holds nobody up', async () => {
  const turns = new CrossProcessLock(folder, '/zombie');
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
    // The shell would ask for it.
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => stat()[2]).toBe('Z');
    const place = join(folder, 'turns', Buffer.from('/zombie').toString('base64url'));
    writeFileSync(join(place, `${pid}-${stat()[21]}-ab.turn`), '');
    expect(await turns.run(async () => 'mine')).toBe('mine');
    turns.release();
  } finally {
    parent.kill('SIGKILL');
  }
});

test('whoever has its turn for long shows that it lives', async () => {
  const turns = new CrossProcessLock(folder, '/long');
  const place = join(folder, 'turns', Buffer.from('/long').toString('base64url'));
  await turns.run(async () => {
    const [name = ''] = readdirSync(place);
    utimesSync(join(place, name), 1, 1);
    await expect.poll(() => statSync(join(place, name)).mtimeMs, { timeout: 20_000 }).toBeGreaterThan(1000);
  });
  turns.release();
  expect(readdirSync(place)).toEqual([]);
});

/** Applies a patch in a PID namespace of its own, and stays in the middle of it. */
async function halfPatchElsewhere(root: string, journal: string): Promise<ChildProcess> {
  const source = (path: string) => new URL(path, import.meta.url);
  const script = `
    import { writeSync } from 'node:fs';
    import { armFailpoints } from '${source('../kernel/failpoint.ts')}';
    import { createToolwright } from '${source('../runtime/create-toolwright.ts')}';
    import { applyPatch } from '${source('../tools/fs/apply-patch.ts')}';
    import { openWorkspace } from '${source('../workspace/open-workspace.ts')}';
    const [root, folder, patch] = process.argv.slice(1);
    const world = await openWorkspace({ root, journal: { folder } });
    let renamed = 0;
    armFailpoints((name) => {
      if (name !== 'workspace.looked' || renamed++ === 0) return;
      writeSync(1, 'half');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });
    const approver = () => ({ approved: true });
    await createToolwright({ tools: [applyPatch], world, approver }).call('apply_patch', { patch });`;
  const update = (name: string) => `*** Update File: ${name}\n@@\n-old\n+new\n`;
  const patch = `*** Begin Patch\n${update('a.txt')}${update('b.txt')}*** End Patch\n`;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script, root, journal, patch];
  const apart = ['--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...apart, ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

test('a process in another container keeps its turn, and when it is gone what it left half made is taken back', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old\n', 'b.txt': 'old\n' } });
  const child = await halfPatchElsewhere(ws.root, ws.journal);
  const texts = () => ['a.txt', 'b.txt'].map((name) => readFileSync(ws.file(name), 'utf8'));
  let isOpen = false;
  const opening = openWorkspace({ root: ws.root, journal: { folder: ws.journal } }).finally(() => {
    isOpen = true;
  });
  try {
    await pause(300);
    expect([isOpen, texts()]).toEqual([false, ['new\n', 'old\n']]);
  } finally {
    child.kill('SIGKILL');
    const [place = ''] = readdirSync(join(ws.journal, 'turns'));
    for (const name of readdirSync(join(ws.journal, 'turns', place))) {
      const file = join(ws.journal, 'turns', place, name);
      if (name.startsWith('1-')) utimesSync(file, 1, 1);
    }
    (await opening).close();
  }
  expect(texts()).toEqual(['old\n', 'old\n']);
});

test('a journal that cannot be written is said so, and nothing is changed', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one' } });
  rmSync(join(ws.journal, 'logs'), { recursive: true });
  const written = await ws.call('write_file', { path: 'a.txt', content: 'two' });
  expect(written.error).toMatchObject({ code: 'FILE_NOT_FOUND', message: expect.stringContaining('The journal') });
  expect([readFileSync(ws.file('a.txt'), 'utf8'), readdirSync(ws.root)]).toEqual(['one', ['a.txt']]);
});

test('folders that a killed process made for a file that never came are gone after the next start', async () => {
  await using ws = await tempWorkspace();
  mkdirSync(ws.file('new/deep'), { recursive: true });
  writeFileSync(ws.file('new/deep/.toolwright-00.tmp'), 'half');
  const change = { kind: 'write', path: 'new/deep/f', temp: '.toolwright-00.tmp', before: null } as const;
  const set: ChangeSet = {
    id: 'dead-1',
    callId: 'c',
    session: 's',
    root: ws.workspace.root,
    at: 1,
    owner: { pid: 999_999_999, started: '1' },
    changes: [{ ...change, undoable: true, after: 'x', made: ['new', 'new/deep'] }],
  };
  writeFileSync(join(ws.journal, 'logs/dead.open.jsonl'), `${JSON.stringify({ begun: set })}\n{"cut`);
  const again = await openWorkspace({ root: ws.root, journal: { folder: ws.journal } });
  again.close();
  expect(readdirSync(ws.root)).toEqual([]);
});
