import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { tempStage, treeListing } from '../../testing/temp-stage.ts';
import { asOrdinaryUser, type TempOptions, tempWorkspace } from '../../testing/temp-workspace.ts';
import { openWorkspace } from '../open-workspace.ts';

/** A workspace and the content of a stage beside it, or elsewhere. */
async function staged(options: TempOptions, elsewhere?: string) {
  const ws = await tempWorkspace(options);
  const before = treeListing(ws.root);
  const stage = tempStage(ws.workspace, elsewhere ?? join(ws.outside, 'stage'));
  const undo = () => ws.workspace.undo('command');
  const text = (path: string) => readFileSync(ws.file(path), 'utf8');
  return { ws, stage, undo, before, text, [Symbol.asyncDispose]: () => ws[Symbol.asyncDispose]() };
}

/** One of each kind: new, changed, symlinks, a folder, permissions, deletions, and paths that become another kind. */
async function everyKind(options: TempOptions = {}, elsewhere?: string) {
  const files = {
    'a.txt': 'old a',
    'd/b.txt': 'old b',
    'gone.txt': 'gone',
    'tree/x/y': 'Y',
    f2d: 'file',
    'd2f/in': 'I',
  };
  const all = await staged({ files, ...options }, elsewhere);
  const { ws, stage } = all;
  symlinkSync('a.txt', ws.file('link'));
  symlinkSync('d', ws.file('l2d'));
  chmodSync(ws.file('d/b.txt'), 0o640);
  const before = treeListing(ws.root);
  stage.put('new.txt', 'new');
  stage.put('d/deep/er/new.txt', 'deep');
  stage.put('a.txt', 'new a');
  stage.put('newlink', { target: 'd' });
  stage.put('link', { target: 'd/b.txt' });
  stage.put('folder/in/side', 'F');
  stage.put('folder/empty', 'folder');
  stage.put('f2d/now/folder', 'D');
  stage.put('d2f', 'now a file');
  stage.put('l2d/in', 'now a folder');
  for (const [path, mode] of [
    ['new.txt', 0o755],
    ['a.txt', 0o600],
    ['folder/in', 0o750],
  ] as const) {
    chmodSync(join(stage.folder, path), mode);
  }
  const changes: Change[] = [
    await stage.remove('tree'),
    await stage.take('new.txt'),
    await stage.take('d/deep/er/new.txt'),
    await stage.take('a.txt'),
    await stage.take('newlink'),
    await stage.take('link'),
    await stage.take('folder'),
    { kind: 'mode', path: 'd/b.txt', mode: 0o755, expect: { version: null, mode: 0o640 } },
    { kind: 'mode', path: 'd', mode: 0o700, expect: { version: null } },
    await stage.remove('gone.txt'),
    await stage.remove('f2d'),
    await stage.take('f2d', { expect: 'absent' }),
    await stage.remove('d2f'),
    await stage.take('d2f', { expect: 'absent' }),
    await stage.remove('l2d'),
    await stage.take('l2d/in', { expect: 'absent' }),
  ];
  const after = {
    'a.txt': 'file 600 new a',
    d: 'folder 700',
    'd/b.txt': 'file 755 old b',
    'd/deep': 'folder 755',
    'd/deep/er': 'folder 755',
    'd/deep/er/new.txt': 'file 644 deep',
    d2f: 'file 644 now a file',
    f2d: 'folder 755',
    'f2d/now': 'folder 755',
    'f2d/now/folder': 'file 644 D',
    folder: 'folder 755',
    'folder/empty': 'folder 755',
    'folder/in': 'folder 750',
    'folder/in/side': 'file 644 F',
    l2d: 'folder 755',
    'l2d/in': 'file 644 now a folder',
    link: 'symlink d/b.txt',
    'new.txt': 'file 755 new',
    newlink: 'symlink d',
  };
  return { ...all, before, changes, after };
}

test.each([
  ['of the same file system', undefined],
  ['of another file system', '/dev/shm'],
])('every kind of change comes from a stage %s, and an undo takes all of them back', async (_where, parent) => {
  const elsewhere = parent === undefined ? undefined : mkdtempSync(join(parent, 'stage-'));
  await using set = await everyKind({}, elsewhere);
  const done = await set.stage.apply(set.changes);
  expect(done).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.after);
  expect(done.ok && done.value.map(({ kind }) => kind)).toEqual(set.changes.map(({ kind }) => kind));
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.before);
  expect(await set.undo()).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true });
});

test('with a journal on another file system all comes and goes as well', async () => {
  await using set = await everyKind({ parent: '/dev/shm' });
  const folder = mkdtempSync('/tmp/journal-');
  const workspace = await openWorkspace({ root: set.ws.root, journal: { folder } });
  expect(await tempStage(workspace, set.stage.folder).apply(set.changes)).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.after);
  expect(await workspace.undo('command')).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.before);
  workspace.close();
  rmSync(folder, { recursive: true });
});

test('without a journal all comes, and says that it cannot be undone', async () => {
  await using set = await everyKind({ journal: false });
  const done = await set.stage.apply(set.changes);
  expect(done.ok && done.value.every((each) => !('undoable' in each) || !each.undoable)).toBe(true);
  expect(treeListing(set.ws.root)).toEqual(set.after);
});

test('more changes than are synced one by one come in the same way', async () => {
  await using set = await everyKind();
  const more = Array.from({ length: 40 }, (_, index) => `many/${index}.txt`);
  for (const path of more) set.stage.put(path, path);
  const taken = await Promise.all(more.map((path) => set.stage.take(path)));
  expect(await set.stage.apply([...set.changes, ...taken])).toMatchObject({ ok: true });
  expect(readdirSync(set.ws.file('many'))).toHaveLength(40);
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.before);
});

test('a rehearsal answers like an apply and changes neither workspace nor stage', async () => {
  await using set = await everyKind();
  const stageBefore = treeListing(set.stage.folder);
  const signal = new AbortController().signal;
  const caller = { callId: 'c', session: 's', workingDir: set.ws.root, timeout: 9, signal, admitted: null };
  const rehearsed = await set.ws.workspace.files(caller).rehearse(set.changes);
  expect(rehearsed).toMatchObject({ ok: true });
  expect([treeListing(set.ws.root), treeListing(set.stage.folder)]).toEqual([set.before, stageBefore]);
});

test('set-id bits never come in, and stay where they are', async () => {
  await using set = await staged({ files: { 'old.sh': 'x', 'own.sh': 'y' } });
  const { ws, stage } = set;
  chmodSync(ws.file('own.sh'), 0o4755);
  for (const path of ['new.sh', 'old.sh', 'dir/in.sh']) chmodSync(stage.put(path, 'run'), 0o6755);
  const changes = [await stage.take('new.sh'), await stage.take('old.sh'), await stage.take('dir')];
  const modes: Change[] = [{ kind: 'mode', path: 'own.sh', mode: 0o6700, expect: { version: null } }];
  expect(await stage.apply([...changes, ...modes])).toMatchObject({ ok: true });
  const seen = ['new.sh', 'old.sh', 'dir/in.sh', 'own.sh'].map((path) => statSync(ws.file(path)).mode & 0o7777);
  expect(seen).toEqual([0o755, 0o755, 0o755, 0o4700]);
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(statSync(ws.file('own.sh')).mode & 0o7777).toBe(0o4755);
});

test('a changed file keeps its owner and gets the time of the staged one; its other names keep the old content', async () => {
  await using set = await staged({ files: { 'a.txt': 'old' } });
  const { ws, stage } = set;
  linkSync(ws.file('a.txt'), ws.file('other'));
  if (process.getuid?.() === 0) chownSync(ws.file('a.txt'), 1234, 4321);
  const { uid, gid } = statSync(ws.file('a.txt'));
  utimesSync(stage.put('a.txt', 'new'), 1000, 2000);
  expect(await stage.apply([await stage.take('a.txt')])).toMatchObject({ ok: true });
  const now = statSync(ws.file('a.txt'));
  expect([now.uid, now.gid, now.mtimeMs, set.text('a.txt'), set.text('other')]).toEqual([
    uid,
    gid,
    2000_000,
    'new',
    'old',
  ]);
  expect(await set.undo()).toMatchObject({ ok: true });
  const back = statSync(ws.file('a.txt'));
  expect([back.uid, back.gid, set.text('a.txt')]).toEqual([uid, gid, 'old']);
});

test.each(['.env', 'dir/.env', '.toolwright/x'])(
  '%s is refused, on its own and in a folder that comes whole',
  async (path) => {
    await using set = await staged({});
    const { stage } = set;
    stage.put(path, 'SECRET=1');
    stage.put('ok.txt', 'ok');
    for (const top of new Set([path, path.split('/')[0] as string])) {
      const refused = await stage.apply([await stage.take('ok.txt'), await stage.take(top)]);
      expect(refused, top).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
    }
    expect([readdirSync(set.ws.root), existsSync(join(stage.folder, 'ok.txt'))]).toEqual([[], true]);
  },
);

test('protected files come for a call that was admitted to apply a stage, and for no other', async () => {
  await using set = await staged({ files: { '.git/config': '[core]\n' } });
  const { ws, stage } = set;
  stage.put('.git/hooks/pre-commit', '#!/bin/sh\n');
  const take = await stage.take('.git/hooks/pre-commit');
  const signal = new AbortController().signal;
  const caller = { callId: 'c', session: 's', workingDir: ws.root, timeout: 9, signal };
  const other = ws.workspace.files({ ...caller, admitted: [{ kind: 'fs.write', path: 'a.txt' }] });
  expect(await other.apply([take])).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  expect(await stage.apply([take])).toMatchObject({ ok: true });
  expect(existsSync(ws.file('.git/hooks/pre-commit'))).toBe(true);
});

test('in a repository objects come before the names that lead to them', async () => {
  await using set = await staged({ files: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/old.lock': '' } });
  const { ws, stage } = set;
  const paths = ['.git/HEAD', '.git/index', '.git/refs/heads/main', '.git/objects/ab/cd', 'src.txt'];
  for (const path of paths) stage.put(path, path);
  const changes = [await stage.remove('.git/old.lock'), ...(await Promise.all(paths.map((path) => stage.take(path))))];
  const order: string[] = [];
  const disarm = armFailpoints((name) => {
    if (name !== 'workspace.taken' && name !== 'workspace.deleted') return;
    const now = Object.entries(treeListing(ws.root)).filter(
      ([path, content]) => content.endsWith(path) && paths.includes(path),
    );
    for (const [path] of now) if (!order.includes(path)) order.push(path);
    if (name === 'workspace.deleted') order.push('deleted');
  });
  expect(await stage.apply(changes)).toMatchObject({ ok: true });
  disarm();
  expect(order).toEqual([
    'src.txt',
    '.git/objects/ab/cd',
    '.git/refs/heads/main',
    '.git/index',
    '.git/HEAD',
    'deleted',
  ]);
});

test('a whole repository that was deleted comes back', async () => {
  await using set = await staged({ files: { '.git/HEAD': 'ref', '.git/objects/ab/cd': 'object', 'a.txt': 'a' } });
  expect(await set.stage.apply([await set.stage.remove('.git')])).toMatchObject({ ok: true });
  expect(readdirSync(set.ws.root)).toEqual(['a.txt']);
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(treeListing(set.ws.root)).toEqual(set.before);
});

test('pipes and devices in a folder, and changes inside of a folder that comes or goes whole, are refused', async () => {
  await using set = await staged({ files: { 'd/x': 'x' } });
  const { stage } = set;
  stage.put('new/in.txt', 'x');
  const twice = [await stage.take('new'), await stage.take('new/in.txt')];
  expect(await stage.apply(twice)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  const both = [await stage.remove('d'), await stage.remove('d/x'), await stage.take('new')];
  expect(await stage.apply(both)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  const { execFileSync } = await import('node:child_process');
  execFileSync('mkfifo', [join(stage.folder, 'new/pipe')]);
  expect(await stage.apply([await stage.take('new')])).toMatchObject({ ok: false, error: { code: 'INVALID_PATH' } });
  expect(treeListing(set.ws.root)).toEqual(set.before);
});

test('an ordinary user can keep read-only folders, and changes in a folder that gets or loses its rights', async () => {
  await using set = await staged({ files: { 'opens/x': 'x', 'closes/x': 'x', 'gone/x': 'x' } });
  const { ws, stage } = set;
  for (const path of ['opens', 'gone']) chmodSync(ws.file(path), 0o555);
  stage.put('new/in/x', 'x');
  for (const path of ['opens/y', 'closes/y']) stage.put(path, 'y');
  stage.put('closes/in/z', 'z');
  for (const path of ['new/in', 'new', 'closes']) chmodSync(join(stage.folder, path), 0o555);
  const before = treeListing(ws.root);
  const changes: Change[] = [
    { kind: 'mode', path: 'closes', mode: 0o555, expect: { version: null } },
    { kind: 'mode', path: 'opens', mode: 0o755, expect: { version: null } },
    await stage.take('new'),
    await stage.take('opens/y'),
    await stage.take('closes/y'),
    await stage.take('closes/in'),
    await stage.remove('closes/x'),
    await stage.remove('gone'),
  ];
  await asOrdinaryUser([ws.top], async () => {
    expect(await stage.apply(changes)).toMatchObject({ ok: true });
    expect(lstatSync(ws.file('new')).mode & 0o777).toBe(0o555);
    expect(Object.keys(treeListing(ws.root))).toEqual([
      'closes',
      'closes/in',
      'closes/in/z',
      'closes/y',
      'new',
      'new/in',
      'new/in/x',
      'opens',
      'opens/x',
      'opens/y',
    ]);
    expect(await set.undo()).toMatchObject({ ok: true });
    expect(treeListing(ws.root)).toEqual(before);
  });
});

test('a folder that an ordinary user may not change is left as it is', async () => {
  await using set = await staged({ files: { 'fixed/x': 'x', 'a.txt': 'a' } });
  const { ws, stage } = set;
  stage.put('fixed/y', 'y');
  stage.put('a.txt', 'b');
  chmodSync(ws.file('fixed'), 0o555);
  const before = treeListing(ws.root);
  await asOrdinaryUser([ws.top], async () => {
    const refused = await stage.apply([await stage.take('a.txt'), await stage.take('fixed/y')]);
    expect(refused).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
    expect(treeListing(ws.root)).toEqual(before);
    expect(readFileSync(join(stage.folder, 'fixed/y'), 'utf8')).toBe('y');
  });
});

test('a folder of a stage that comes in part is made with the permissions it has there', async () => {
  await using set = await staged({});
  const { ws, stage } = set;
  stage.put('part/in/keep.txt', 'k');
  stage.put('part/in/.env', 'SECRET');
  chmodSync(join(stage.folder, 'part/in'), 0o700);
  mkdirSync(join(stage.folder, 'part/empty'));
  const changes = [await stage.take('part/in/keep.txt'), await stage.take('part/empty')];
  expect(await stage.apply(changes)).toMatchObject({ ok: true });
  expect(Object.keys(treeListing(ws.root))).toEqual(['part', 'part/empty', 'part/in', 'part/in/keep.txt']);
  expect(statSync(ws.file('part/in')).mode & 0o777).toBe(0o700);
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(readdirSync(ws.root)).toEqual([]);
});

test('a sticky folder comes with its bit, whole or in part, and without set-id bits', async () => {
  await using set = await staged({});
  const { ws, stage } = set;
  for (const path of ['whole/f', 'part/f', 'part/.env']) stage.put(path, 'x');
  for (const path of ['whole', 'part']) chmodSync(join(stage.folder, path), 0o7777);
  const changes = [await stage.take('whole', { mode: 0o1777 }), await stage.take('part/f')];
  expect(await stage.apply(changes)).toMatchObject({ ok: true });
  expect(['whole', 'part'].map((path) => statSync(ws.file(path)).mode & 0o7777)).toEqual([0o1777, 0o1777]);
  expect(await set.undo()).toMatchObject({ ok: true });
  expect(readdirSync(ws.root)).toEqual([]);
});
