import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type TempWorkspace, tempWorkspace } from '../../testing/temp-workspace.ts';
import type { FileEvent } from './watch.ts';
import { tooManyWatches } from './watch-limit.ts';

/** Everything told until a path was told, or the time is over. */
async function watching(ws: TempWorkspace) {
  const told: FileEvent[] = [];
  const waiting = new Map<string, () => void>();
  const begun = await ws.workspace.watch(({ events }) => {
    told.push(...events);
    for (const { path } of events) waiting.get(path)?.();
  });
  if (!begun.ok) throw new Error(begun.error.message);
  return {
    watch: begun.value,
    async until(path: string): Promise<string[]> {
      if (!told.some((event) => event.path === path)) {
        await new Promise<void>((resolve) => {
          waiting.set(path, resolve);
          setTimeout(resolve, 20_000).unref();
        });
      }
      return told.splice(0).map(({ type, path: at, callId }) => `${type} ${at}${callId === null ? '' : ' by a call'}`);
    },
  };
}

test('tells what others change: new files, changes, saves by rename, deletions', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': '1', 'b/c.txt': '1', '.env': 'x' } });
  const { until } = await watching(ws);
  writeFileSync(ws.file('b/new.txt'), 'x');
  expect(await until('b/new.txt')).toEqual(['created b/new.txt']);
  appendFileSync(ws.file('a.txt'), '2');
  expect(await until('a.txt')).toEqual(['changed a.txt']);
  writeFileSync(ws.file('a.swp'), '3');
  renameSync(ws.file('a.swp'), ws.file('a.txt'));
  expect(await until('a.txt')).toEqual(['changed a.txt']);
  rmSync(ws.file('b'), { recursive: true });
  expect(await until('b')).toContain('deleted b');
  appendFileSync(ws.file('.env'), 'y');
  expect(await until('.env')).toEqual(['changed .env']);
});

test('follows folders that come, are moved and come back under another name', async () => {
  await using ws = await tempWorkspace({ files: { 'keep/x': '1' } });
  const { until, watch } = await watching(ws);
  mkdirSync(ws.file('n/m'), { recursive: true });
  writeFileSync(ws.file('n/m/x'), '1');
  expect(await until('n/m/x')).toEqual(expect.arrayContaining(['created n', 'created n/m', 'created n/m/x']));
  renameSync(ws.file('n'), ws.file('n2'));
  expect(await until('n2/m/x')).toEqual(expect.arrayContaining(['deleted n', 'created n2', 'created n2/m/x']));
  appendFileSync(ws.file('n2/m/x'), '2');
  expect(await until('n2/m/x')).toEqual(['changed n2/m/x']);
  expect(watch.folders).toBe(4);
  watch.close();
  expect(watch.folders).toBe(0);
});

test('says which call changed a file, and nothing of temporary files', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': '1' } });
  const { until } = await watching(ws);
  await ws.call('write_file', { path: 'a.txt', content: '2' });
  expect(await until('a.txt')).toEqual(['changed a.txt by a call']);
  await ws.call('write_file', { path: 'd/new.txt', content: '2' });
  expect(await until('d/new.txt')).toEqual(['created d', 'created d/new.txt by a call']);
  await ws.call('move_file', { from: 'a.txt', to: 'b.txt' });
  expect((await until('b.txt')).sort()).toEqual(['created b.txt by a call', 'deleted a.txt by a call']);
  await ws.call('delete_file', { path: 'b.txt' });
  expect(await until('b.txt')).toEqual(['deleted b.txt by a call']);
});

test('does not follow links out, nor look into .git and node_modules', async () => {
  await using ws = await tempWorkspace({ files: { '.git/HEAD': '', 'node_modules/p/i.js': '', 'a.txt': '' } });
  symlinkSync(ws.outside, ws.file('out'));
  const { until, watch } = await watching(ws);
  expect(watch.folders).toBe(1);
  writeFileSync(`${ws.outside}/secret`, 'x');
  writeFileSync(ws.file('.git/HEAD'), 'x');
  writeFileSync(ws.file('node_modules/p/i.js'), 'x');
  writeFileSync(ws.file('a.txt'), 'x');
  expect(await until('a.txt')).toEqual(['changed a.txt']);
});

test('a flood is told as such, so that whoever shows files looks again', async () => {
  await using ws = await tempWorkspace();
  let complete = true;
  const flooded = new Promise<void>((resolve) => {
    void ws.workspace.watch((news) => {
      complete &&= news.complete;
      if (!complete) resolve();
    });
  });
  mkdirSync(ws.file('d'));
  for (let file = 0; file < 3000; file++) writeFileSync(ws.file(`d/${file}`), '');
  await flooded;
  expect(complete).toBe(false);
});

test('too few watches are explained with the setting and the command', () => {
  const allowed = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  expect(tooManyWatches('ENOSPC', 7)).toMatchObject({
    ok: false,
    error: { code: 'EXECUTION_ERROR', message: expect.stringMatching(/after 7 folders.*max_user_watches.*sysctl/) },
  });
  expect(tooManyWatches('ENOSPC', 7)).toMatchObject({ error: { details: { allowed } } });
});
