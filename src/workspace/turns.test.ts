import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tempWorkspace } from '../testing/temp-workspace.ts';
import type { ChangeSet } from './change-set.ts';
import { openWorkspace } from './open-workspace.ts';
import { Turns } from './turns.ts';

const folder = mkdtempSync(join(tmpdir(), 'turns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('however many want it, one has the turn, and everybody gets it', async () => {
  const all = [new Turns(folder, '/w'), new Turns(folder, '/w'), new Turns(folder, '/w')];
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
  for (const turns of all) turns.give();
});

test('a process that is gone holds nobody up', async () => {
  const turns = new Turns(folder, '/dead');
  const place = join(folder, 'turns', Buffer.from('/dead').toString('base64url'));
  writeFileSync(join(place, '999999999-1-ab.turn'), '');
  expect(await turns.run(async () => 'mine')).toBe('mine');
  turns.give();
});

test('a process that has ended and whose parent does not ask for it holds nobody up', async () => {
  const turns = new Turns(folder, '/zombie');
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
    turns.give();
  } finally {
    parent.kill('SIGKILL');
  }
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
