import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { openWorkspace } from '../open-workspace.ts';

const gone = { pid: 999_999_999, started: '1' };
const setOf = (id: string, root: string) => {
  return { id, callId: `call of ${id}`, session: 's', root, at: 1, owner: gone, changes: [] };
};

function writeLog(journal: string, name: string, ...entries: readonly object[]): void {
  writeFileSync(join(journal, 'logs', name), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** Ready to open a workspace as soon as it is told to. */
async function readyToOpen(root: string, journal: string): Promise<ChildProcess> {
  const script = `
    import { openWorkspace } from '${new URL('../open-workspace.ts', import.meta.url)}';
    const [root, folder] = process.argv.slice(1);
    process.stdin.once('data', async () => {
      (await openWorkspace({ root, journal: { folder } })).close();
      process.exit(0);
    });
    process.stdout.write('ready');`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script, root, journal];
  const child = spawn(process.execPath, node, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

test('processes that open workspaces at once settle the same logs, and no change is lost from sight meanwhile', async () => {
  await using ws = await tempWorkspace();
  const roots = ['1', '2', '3', '4'].map((name) => join(ws.outside, name));
  for (const root of roots) mkdirSync(root);
  const children = await Promise.all(roots.map((root) => readyToOpen(root, ws.journal)));
  for (let count = 0; count < 1500; count++) {
    const set = setOf(`left-${count}`, ws.workspace.root);
    writeLog(ws.journal, `left${count}.open.jsonl`, { begun: set }, { done: set.id });
  }
  let running = children.length;
  const codes = Promise.all(
    children.map(async (child) => {
      child.stdin?.write('go');
      const [code] = await once(child, 'exit');
      running--;
      return code;
    }),
  );
  while (running > 0) {
    expect(ws.workspace.canUndo('call of left-700')).toBe(true);
    await nextTurn();
  }
  expect(await codes).toEqual([0, 0, 0, 0]);
  expect(readdirSync(join(ws.journal, 'logs')).filter((name) => !name.endsWith('.settled.jsonl'))).toEqual([]);
}, 60_000);

test('a log that says of a change in another that it is done is settled after that one', async () => {
  await using ws = await tempWorkspace();
  const [first, second] = [setOf('first-1', ws.workspace.root), setOf('second-1', ws.workspace.root)];
  writeLog(ws.journal, 'a.open.jsonl', { begun: second }, { done: second.id }, { dropped: first.id });
  writeLog(ws.journal, 'b.open.jsonl', { begun: first });
  const logsAfterStart = async () => {
    (await openWorkspace({ root: ws.outside, journal: { folder: ws.journal } })).close();
    return readdirSync(join(ws.journal, 'logs')).sort();
  };
  expect(await logsAfterStart()).toEqual(['a.open.jsonl', 'b.settled.jsonl']);
  expect(await logsAfterStart()).toEqual(['a.settled.jsonl', 'b.settled.jsonl']);
});

test('a log of another container is settled when nobody wrote to it for long', async () => {
  await using ws = await tempWorkspace();
  const set = { ...setOf('there-1', ws.workspace.root), owner: { ...gone, space: '1.00000000' } };
  writeLog(ws.journal, 'there.open.jsonl', { begun: set }, { done: set.id });
  const logsAfterStart = async () => {
    (await openWorkspace({ root: ws.outside, journal: { folder: ws.journal } })).close();
    return readdirSync(join(ws.journal, 'logs'));
  };
  expect(await logsAfterStart()).toEqual(['there.open.jsonl']);
  utimesSync(join(ws.journal, 'logs/there.open.jsonl'), 1, 1);
  expect(await logsAfterStart()).toEqual(['there.settled.jsonl']);
});

test('a process whose log was settled by another container begins a new one', async () => {
  await using ws = await tempWorkspace();
  const logs = join(ws.journal, 'logs');
  const first = await ws.call('write_file', { path: 'a.txt', content: '1' });
  const [name = ''] = readdirSync(logs);
  renameSync(join(logs, name), join(logs, name.replace('.open.', '.settled.')));
  const second = await ws.call('write_file', { path: 'a.txt', content: '2' });
  expect(readdirSync(logs).filter((each) => each.endsWith('.open.jsonl'))).toHaveLength(1);
  for (const { callId } of [second, first]) {
    expect(await ws.workspace.undo(callId as string)).toMatchObject({ ok: true });
  }
  expect(readdirSync(ws.root)).toEqual([]);
});
