import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { type TempStage, tempStage, treeListing } from '../../testing/temp-stage.ts';
import { type TempWorkspace, tempWorkspace } from '../../testing/temp-workspace.ts';

interface Scene {
  readonly ws: TempWorkspace;
  readonly stage: TempStage;
  readonly changes: readonly Change[];
}

/** Changes of every kind, all as expected until somebody does something. */
async function scene(): Promise<Scene & AsyncDisposable> {
  const files = { 'a.txt': 'a', 'b.txt': 'b', 'd/x/y': 'y', 'm.sh': 'm', 'g.txt': 'g', 'sub/s.txt': 's' };
  const ws = await tempWorkspace({ files });
  const stage = tempStage(ws.workspace, join(ws.outside, 'stage'));
  symlinkSync('a.txt', ws.file('link'));
  for (const path of ['a.txt', 'b.txt', 'new.txt', 'sub/s.txt', 'sub/new.txt', 'dir/in'])
    stage.put(path, `new ${path}`);
  stage.put('link', { target: 'b.txt' });
  const taken = ['a.txt', 'b.txt', 'new.txt', 'sub/s.txt', 'sub/new.txt', 'dir', 'link'];
  const changes: Change[] = [
    ...(await Promise.all(taken.map((path) => stage.take(path)))),
    { kind: 'mode', path: 'm.sh', mode: 0o755, expect: { version: null, mode: 0o644 } },
    await stage.remove('g.txt'),
    await stage.remove('d'),
  ];
  return { ws, stage, changes, [Symbol.asyncDispose]: () => ws[Symbol.asyncDispose]() };
}

const theirs: readonly (readonly [what: string, paths: readonly string[], how: (scene: Scene) => void])[] = [
  ['a file was edited', ['a.txt'], ({ ws }) => appendFileSync(ws.file('a.txt'), 'theirs')],
  ['a file is gone', ['a.txt'], ({ ws }) => rmSync(ws.file('a.txt'))],
  [
    'a file became a folder',
    ['a.txt'],
    ({ ws }) => {
      rmSync(ws.file('a.txt'));
      mkdirSync(ws.file('a.txt'));
    },
  ],
  ['somebody made the new file', ['new.txt'], ({ ws }) => writeFileSync(ws.file('new.txt'), 'theirs')],
  ['somebody made the new folder', ['dir'], ({ ws }) => mkdirSync(ws.file('dir'))],
  [
    'a symlink leads elsewhere',
    ['link'],
    ({ ws }) => {
      rmSync(ws.file('link'));
      symlinkSync('m.sh', ws.file('link'));
    },
  ],
  ['permissions are others', ['m.sh'], ({ ws }) => chmodSync(ws.file('m.sh'), 0o600)],
  ['a deleted file was edited', ['g.txt'], ({ ws }) => appendFileSync(ws.file('g.txt'), 'theirs')],
  ['a deleted folder got an entry', ['d'], ({ ws }) => writeFileSync(ws.file('d/x/new'), 'theirs')],
  ['a file in a deleted folder was edited', ['d'], ({ ws }) => appendFileSync(ws.file('d/x/y'), 'theirs')],
  [
    'a folder above became a symlink',
    ['sub/s.txt', 'sub/new.txt'],
    ({ ws }) => {
      renameSync(ws.file('sub'), ws.file('moved'));
      symlinkSync('moved', ws.file('sub'));
    },
  ],
  [
    'a folder above leads out',
    ['sub/s.txt', 'sub/new.txt'],
    ({ ws }) => {
      renameSync(ws.file('sub'), join(ws.outside, 'sub'));
      symlinkSync(join(ws.outside, 'sub'), ws.file('sub'));
    },
  ],
  [
    'a folder above became a file',
    ['sub/s.txt', 'sub/new.txt'],
    ({ ws }) => {
      rmSync(ws.file('sub'), { recursive: true });
      writeFileSync(ws.file('sub'), 'theirs');
    },
  ],
  ['pending content was altered', ['a.txt'], ({ stage }) => writeFileSync(join(stage.folder, 'a.txt'), 'other')],
  ['a pending file was altered', ['new.txt'], ({ stage }) => writeFileSync(join(stage.folder, 'new.txt'), 'other')],
  ['a pending folder got a file', ['dir'], ({ stage }) => writeFileSync(join(stage.folder, 'dir/evil'), 'other')],
  ['a pending file is gone', ['new.txt'], ({ stage }) => rmSync(join(stage.folder, 'new.txt'))],
  [
    'many things happened',
    ['a.txt', 'b.txt', 'new.txt', 'm.sh', 'g.txt', 'd'],
    ({ ws }) => {
      for (const path of ['a.txt', 'b.txt', 'new.txt', 'g.txt', 'd/x/y']) appendFileSync(ws.file(path), 'theirs');
      chmodSync(ws.file('m.sh'), 0o600);
    },
  ],
];

test.each(theirs)('when %s, nothing is changed and all such paths are named', async (_what, paths, how) => {
  await using given = await scene();
  const { ws, stage, changes } = given;
  how(given);
  const [before, pending] = [treeListing(ws.root), treeListing(stage.folder)];
  const refused = await stage.apply(changes);
  expect(refused).toMatchObject({ ok: false, error: { code: 'CONFLICT', details: { paths } } });
  expect(!refused.ok && refused.error.message).toContain('nothing was changed');
  expect([treeListing(ws.root), treeListing(stage.folder)]).toEqual([before, pending]);
  expect(ws.workspace.canUndo('command')).toBe(false);
});

test.each([
  ['a changed file was edited', 'b.txt', (ws: TempWorkspace) => appendFileSync(ws.file('b.txt'), 'theirs')],
  ['the new file was made', 'sub/new.txt', (ws: TempWorkspace) => writeFileSync(ws.file('sub/new.txt'), 'theirs')],
  ['the new folder was made', 'dir', (ws: TempWorkspace) => mkdirSync(ws.file('dir'))],
  ['the deleted file was edited', 'g.txt', (ws: TempWorkspace) => appendFileSync(ws.file('g.txt'), 'theirs')],
  [
    'the file was replaced',
    'm.sh',
    (ws: TempWorkspace) => {
      rmSync(ws.file('m.sh'));
      writeFileSync(ws.file('m.sh'), 'theirs');
    },
  ],
  [
    'a folder above became a symlink',
    'sub/new.txt',
    (ws: TempWorkspace) => {
      renameSync(ws.file('sub'), ws.file('moved'));
      symlinkSync('moved', ws.file('sub'));
    },
  ],
])('when %s after all was compared, what was done until then is taken back', async (_what, path, how) => {
  await using given = await scene();
  const { ws, stage, changes } = given;
  const pending = treeListing(stage.folder);
  let before = {};
  const disarm = armFailpoints((name) => {
    if (name !== 'workspace.prepared') return;
    how(ws);
    before = treeListing(ws.root);
  });
  const refused = await stage.apply(changes);
  disarm();
  expect(refused).toMatchObject({ ok: false, error: { code: 'CONFLICT', details: { path } } });
  const temporary = Object.entries(before).filter(([name]) => !name.includes('.toolwright-'));
  expect(treeListing(ws.root)).toEqual(Object.fromEntries(temporary));
  expect(treeListing(stage.folder)).toEqual(pending);
});

test('what another program writes into the old file at the last moment is put back', async () => {
  await using given = await scene();
  const { ws, stage } = given;
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const held = openSync(ws.file('a.txt'), 'r+');
  const disarm = armFailpoints((name) => {
    if (name === 'workspace.taken') writeSync(held, 'THEIRS', 0);
  });
  const refused = await stage.apply([await stage.take('a.txt')]);
  disarm();
  closeSync(held);
  expect(refused).toMatchObject({ ok: false, error: { code: 'CONFLICT', details: { path: 'a.txt' } } });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('THEIRS');
});

test('the same changes can be kept again when the other one gave way', async () => {
  await using given = await scene();
  const { ws, stage, changes } = given;
  writeFileSync(ws.file('dir'), 'theirs');
  expect(await stage.apply(changes)).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  rmSync(ws.file('dir'));
  expect(await stage.apply(changes)).toMatchObject({ ok: true });
  expect(existsSync(ws.file('dir/in'))).toBe(true);
});

test('of two applies at once the first wins, and the other is told', async () => {
  await using given = await scene();
  const { ws, stage, changes } = given;
  const other = tempStage(ws.workspace, join(ws.outside, 'other'));
  other.put('a.txt', 'from the other');
  const results = await Promise.all([stage.apply(changes, 'one'), other.apply([await other.take('a.txt')], 'two')]);
  expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  expect(results.find(({ ok }) => !ok)).toMatchObject({ error: { code: 'CONFLICT' } });
});
