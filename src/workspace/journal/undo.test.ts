import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import { createToolwright } from '../../runtime/create-toolwright.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { openWorkspace } from '../open-workspace.ts';
import { Journal } from './journal.ts';

const id = (result: { callId: string | null }) => result.callId as string;

test('a created file and its folders go again', async () => {
  await using ws = await tempWorkspace();
  const made = await ws.call('write_file', { path: 'a/b/c.txt', content: 'x' });
  expect(await ws.workspace.undo(id(made))).toMatchObject({ ok: true, value: { restored: ['a/b/c.txt'] } });
  expect(readdirSync(ws.root)).toEqual([]);
  expect(await ws.workspace.undo(id(made))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
});

test('a changed file comes back with its bytes and mode', async () => {
  await using ws = await tempWorkspace({ files: { 'a.bin': new Uint8Array([0, 1, 255]) } });
  const mode = statSync(ws.file('a.bin')).mode;
  const changed = await ws.call('write_file', { path: 'a.bin', content: 'text' });
  expect((await ws.workspace.undo(id(changed))).ok).toBe(true);
  expect([...readFileSync(ws.file('a.bin'))]).toEqual([0, 1, 255]);
  expect(statSync(ws.file('a.bin')).mode).toBe(mode);
  expect(statSync(ws.file('a.bin')).nlink).toBe(1);
});

test('a moved file goes back, and what it replaced comes back', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'A', 'b.txt': 'B', 'd/x': 'X' } });
  const over = await ws.call('move_file', { from: 'a.txt', to: 'b.txt', overwrite: true });
  const folder = await ws.call('move_file', { from: 'd', to: 'e/f' });
  expect((await ws.workspace.undo(id(over))).ok).toBe(true);
  expect((await ws.workspace.undo(id(folder))).ok).toBe(true);
  const contents = ['a.txt', 'b.txt', 'd/x'].map((path) => readFileSync(ws.file(path), 'utf8'));
  expect([contents, existsSync(ws.file('e'))]).toEqual([['A', 'B', 'X'], false]);
});

test('changes are undone one by one, the latest first', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': '1' } });
  const two = await ws.call('write_file', { path: 'a.txt', content: '2' });
  const three = await ws.call('write_file', { path: 'a.txt', content: '3' });
  const early = await ws.workspace.undo(id(two));
  expect(early).toMatchObject({
    ok: false,
    error: { code: 'CONFLICT', message: expect.stringContaining('Undo the later change first') },
  });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('3');
  expect((await ws.workspace.undo(id(three))).ok).toBe(true);
  expect((await ws.workspace.undo(id(two))).ok).toBe(true);
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('1');
});

test.each([
  ['changed by hand', (file: string) => appendFileSync(file, 'more')],
  ['changed back by hand to something else', (file: string) => writeFileSync(file, 'other')],
])('a file that was %s is not undone', async (_how, change) => {
  await using ws = await tempWorkspace({ files: { 'a.txt': '1' } });
  const written = await ws.call('write_file', { path: 'a.txt', content: '2' });
  change(ws.file('a.txt'));
  const now = readFileSync(ws.file('a.txt'), 'utf8');
  expect(await ws.workspace.undo(id(written))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe(now);
});

test('a deleted file whose name was taken since stays in the journal until the name is free', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old' } });
  const deleted = await ws.call('delete_file', { path: 'a.txt' });
  const again = await ws.call('write_file', { path: 'a.txt', content: 'new' });
  expect(await ws.workspace.undo(id(deleted))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect((await ws.workspace.undo(id(again))).ok).toBe(true);
  expect((await ws.workspace.undo(id(deleted))).ok).toBe(true);
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('old');
});

test('an old version that somebody wrote into since it was kept is not restored', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old' } });
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const held = openSync(ws.file('a.txt'), 'r+');
  const written = await ws.call('write_file', { path: 'a.txt', content: 'new' });
  writeSync(held, 'HAX', 0);
  closeSync(held);
  expect(await ws.workspace.undo(id(written))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('new');
});

test('the journal is readable by its owner only, and forgets the oldest when it is full', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'x'.repeat(1000), 'b.txt': 'y'.repeat(1000) } });
  expect(statSync(`${ws.journal}/images`).mode & 0o777).toBe(0o700);
  const first = await ws.call('write_file', { path: 'a.txt', content: '1' });
  // Longer than a tick of the file system's clock, so that there is an oldest.
  await delay(20);
  await ws.call('write_file', { path: 'b.txt', content: '2' });
  const { Journal } = await import('./journal.ts');
  new Journal({ folder: ws.journal, maxBytes: 1500 }).prune();
  expect(readdirSync(`${ws.journal}/images`).length).toBe(1);
  expect(await ws.workspace.undo(id(first))).toMatchObject({ ok: false, error: { code: 'FILE_NOT_FOUND' } });
});

test('without a journal files can be changed, but not undone', async () => {
  await using ws = await tempWorkspace({ files: { 'd/a.txt': 'x' }, journal: false });
  const deleted = await ws.call('delete_file', { path: 'd', recursive: true });
  expect(deleted.value).toMatchObject({ deleted: ['d', 'd/a.txt'], undoable: false });
  expect(readdirSync(ws.root)).toEqual([]);
  expect(await ws.workspace.undo(id(deleted))).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
});

test('a journal on another file system keeps copies, and counts them', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old', 'd/x.txt': 'X' }, parent: '/dev/shm' });
  const folder = mkdtempSync('/tmp/journal-');
  const workspace = await openWorkspace({ root: ws.root, journal: { folder, maxBytes: 3000 } });
  const { call } = createToolwright({ tools: builtInTools, world: workspace, approver: () => ({ approved: true }) });
  const written = await call('write_file', { path: 'a.txt', content: 'new' });
  const deleted = await call('delete_file', { path: 'd', recursive: true });
  expect(existsSync(ws.file('d'))).toBe(false);
  expect((await workspace.undo(id(deleted))).ok).toBe(true);
  expect((await workspace.undo(id(written))).ok).toBe(true);
  expect([readFileSync(ws.file('a.txt'), 'utf8'), readFileSync(ws.file('d/x.txt'), 'utf8')]).toEqual(['old', 'X']);

  const writes = [];
  for (const letter of 'abcde') {
    writes.push(await call('write_file', { path: 'b.txt', content: letter.repeat(1000) }));
    // Longer than a tick of the file system's clock, so that there is an oldest.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const kept = readdirSync(`${folder}/images`).map((name) => statSync(`${folder}/images/${name}`).size);
  expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(3000);
  expect(await workspace.undo(id(writes[4] as (typeof writes)[0]))).toMatchObject({ ok: true });
  workspace.close();
  rmSync(folder, { recursive: true });
});

test('what a move replaced comes back from a journal on another file system, or the undo says that it cannot', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' }, parent: '/dev/shm' });
  writeFileSync(ws.file('large'), Buffer.alloc(17 * 1024 * 1024));
  const folder = mkdtempSync('/tmp/journal-');
  const workspace = await openWorkspace({ root: ws.root, journal: { folder } });
  const { call } = createToolwright({ tools: builtInTools, world: workspace, approver: () => ({ approved: true }) });
  const moved = await call('move_file', { from: 'a.txt', to: 'b.txt', overwrite: true });
  expect((await workspace.undo(id(moved))).ok).toBe(true);
  expect([readFileSync(ws.file('a.txt'), 'utf8'), readFileSync(ws.file('b.txt'), 'utf8')]).toEqual(['a', 'b']);
  const over = await call('move_file', { from: 'c.txt', to: 'large', overwrite: true });
  expect(await workspace.undo(id(over))).toMatchObject({ ok: false, error: { code: 'FILE_NOT_FOUND' } });
  expect(existsSync(ws.file('c.txt'))).toBe(false);
  workspace.close();
  rmSync(folder, { recursive: true });
});

test('a link that a move replaced comes back as a link, and what it leads to is not read', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'a' } });
  writeFileSync(`${ws.outside}/s`, 'CANARY');
  symlinkSync(`${ws.outside}/s`, ws.file('l'));
  const moved = await ws.call('move_file', { from: 'a.txt', to: 'l', overwrite: true });
  expect((await ws.workspace.undo(id(moved))).ok).toBe(true);
  expect(readlinkSync(ws.file('l'))).toBe(`${ws.outside}/s`);
});

test('nothing is restored through a folder that became a link, or over a folder that is another by now', async () => {
  await using ws = await tempWorkspace({ files: { 'd/a.txt': 'one', 'other/b': '', 'e/x': '' } });
  const deleted = await ws.call('delete_file', { path: 'd/a.txt' });
  renameSync(ws.file('d'), ws.file('d2'));
  symlinkSync('other', ws.file('d'));
  expect(await ws.workspace.undo(id(deleted))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect(readdirSync(ws.file('other'))).toEqual(['b']);

  const moved = await ws.call('move_file', { from: 'e', to: 'f' });
  renameSync(ws.file('f'), ws.file('g'));
  mkdirSync(ws.file('f'));
  expect(await ws.workspace.undo(id(moved))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
});

test('what was deleted counts with all that was in it, and the oldest is forgotten first', async () => {
  await using ws = await tempWorkspace();
  const calls = [];
  for (const name of ['a', 'b', 'c']) {
    mkdirSync(ws.file(name));
    writeFileSync(ws.file(`${name}/f`), Buffer.alloc(400_000));
    calls.push(await ws.call('delete_file', { path: name, recursive: true }));
    // The file system tells times apart by ticks of some milliseconds.
    await delay(20);
  }
  const journal = new Journal({ folder: ws.journal, maxBytes: 500_000 });
  journal.prune();
  journal.close();
  const undone = await Promise.all(calls.map((each) => ws.workspace.undo(id(each))));
  expect(undone.map(({ ok }) => ok)).toEqual([false, false, true]);
});

test('a patch that fails half way leaves nothing behind, also without a journal', async () => {
  await using ws = await tempWorkspace({ journal: false, files: { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'x' } });
  const disarm = armFailpoints(countdown(2, () => appendFileSync(ws.file('b.txt'), 'theirs\n')));
  const patch = `*** Begin Patch
*** Update File: a.txt
@@
-one
+1
*** Delete File: c.txt
*** Update File: b.txt
@@
-two
+2
*** Add File: new/d.txt
+d
*** End Patch
`;
  const done = await ws.call('apply_patch', { patch });
  disarm();
  expect(done.error?.code).toBe('CONFLICT');
  const contents = ['a.txt', 'b.txt', 'c.txt'].map((path) => readFileSync(ws.file(path), 'utf8'));
  expect(contents).toEqual(['one\n', 'two\ntheirs\n', 'x']);
  expect(readdirSync(ws.root).sort()).toEqual(['a.txt', 'b.txt', 'c.txt']);
});

/** Acts when a file was written beside the old one for the nth time. */
function countdown(nth: number, act: () => void): (name: string) => void {
  let left = nth;
  return (name) => {
    if (name === 'workspace.written' && --left === 0) act();
  };
}

test.each([true, false])(
  'what an editor writes into the file after the last look is put back (journal: %s)',
  async (journal) => {
    await using ws = await tempWorkspace({ journal, files: { 'a.txt': 'one\n' } });
    const disarm = armFailpoints((name) => {
      if (name === 'workspace.looked') writeFileSync(ws.file('a.txt'), 'six\n');
    });
    const written = await ws.call('write_file', { path: 'a.txt', content: 'ours\n' });
    disarm();
    expect(written.error?.code).toBe('CONFLICT');
    expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('six\n');
    expect(readdirSync(ws.root)).toEqual(['a.txt']);
  },
);

const THREE = `*** Begin Patch
*** Update File: a.txt
@@
-one
+1
*** Delete File: b.txt
*** Update File: c.txt
@@
-three
+3
*** End Patch
`;
const threeFiles = { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'three\n' };
const noSpace = Object.assign(new Error('no space'), { code: 'ENOSPC' });

/** The contents of the files that the patch changed; null for a file that is not there. */
function contentsOf(ws: { file(path: string): string }): (string | null)[] {
  return Object.keys(threeFiles).map((path) =>
    existsSync(ws.file(path)) ? readFileSync(ws.file(path), 'utf8') : null,
  );
}

test('an undo that lacks the old content of one file touches none', async () => {
  await using ws = await tempWorkspace({ files: threeFiles });
  const patched = await ws.call('apply_patch', { patch: THREE });
  const [kept] = readdirSync(`${ws.journal}/images`).filter(
    (name) => !name.endsWith('.tree') && readFileSync(`${ws.journal}/images/${name}`, 'utf8') === 'one\n',
  );
  rmSync(`${ws.journal}/images/${kept}`);
  for (let again = 0; again < 2; again++) {
    expect(await ws.workspace.undo(id(patched))).toMatchObject({
      ok: false,
      error: { code: 'FILE_NOT_FOUND', message: expect.stringContaining('a.txt') },
    });
    expect(contentsOf(ws)).toEqual(['1\n', null, '3\n']);
  }
});

test('an undo that a full disk stops says how far it came, leaves nothing lying about, and goes on when asked again', async () => {
  await using ws = await tempWorkspace({ files: threeFiles });
  const patched = await ws.call('apply_patch', { patch: THREE });
  let restored = 0;
  const disarm = armFailpoints((name) => {
    if (name === 'workspace.restoring' && ++restored === 2) throw noSpace;
  });
  const stopped = await ws.workspace.undo(id(patched));
  disarm();
  expect(stopped).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('Undo the call again'), details: { restored: ['c.txt', 'b.txt'] } },
  });
  expect(contentsOf(ws)).toEqual(['1\n', 'two\n', 'three\n']);
  expect(readdirSync(ws.root).sort()).toEqual(['a.txt', 'b.txt', 'c.txt']);
  expect(await ws.workspace.undo(id(patched))).toMatchObject({ ok: true });
  expect(contentsOf(ws)).toEqual(['one\n', 'two\n', 'three\n']);
  expect(ws.workspace.canUndo(id(patched))).toBe(false);
});

test('an undo that stopped half way loses nothing that was written since', async () => {
  await using ws = await tempWorkspace({ files: threeFiles });
  const patched = await ws.call('apply_patch', { patch: THREE });
  const disarm = armFailpoints(stopAfter(1));
  await expect(ws.workspace.undo(id(patched))).rejects.toThrow('ended here');
  disarm();
  writeFileSync(ws.file('b.txt'), 'theirs\n');
  expect(await ws.workspace.undo(id(patched))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect(contentsOf(ws)).toEqual(['1\n', 'theirs\n', 'three\n']);
});

test.each([1, 2, 3])(
  'an undo whose process ends after %s of three changes is finished by the next',
  async (changes) => {
    await using ws = await tempWorkspace({ files: threeFiles });
    const patched = await ws.call('apply_patch', { patch: THREE });
    const disarm = armFailpoints(stopAfter(changes));
    await expect(ws.workspace.undo(id(patched))).rejects.toThrow('ended here');
    disarm();
    expect(await ws.workspace.undo(id(patched))).toMatchObject({ ok: true });
    expect(contentsOf(ws)).toEqual(['one\n', 'two\n', 'three\n']);
  },
);

test('a move that is back without what it replaced gets that too', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'A', 'b.txt': 'B' } });
  const moved = await ws.call('move_file', { from: 'a.txt', to: 'b.txt', overwrite: true });
  const disarm = armFailpoints((name) => {
    if (name === 'workspace.restoring') throw noSpace;
  });
  expect(await ws.workspace.undo(id(moved))).toMatchObject({ ok: false });
  disarm();
  expect(readdirSync(ws.root)).toEqual(['a.txt']);
  expect(await ws.workspace.undo(id(moved))).toMatchObject({ ok: true });
  expect([readFileSync(ws.file('a.txt'), 'utf8'), readFileSync(ws.file('b.txt'), 'utf8')]).toEqual(['A', 'B']);
});

test('a large file that is back as a copy is known again, and one that was changed since is not', async () => {
  await using ws = await tempWorkspace();
  const large = Buffer.alloc(17 * 1024 * 1024, 'a');
  writeFileSync(ws.file('large'), large);
  const written = await ws.call('write_file', { path: 'large', content: 'small' });
  const disarm = armFailpoints(stopAfter(1));
  await expect(ws.workspace.undo(id(written))).rejects.toThrow('ended here');
  disarm();
  writeFileSync(ws.file('large'), large.fill('b', 0, 1));
  expect(await ws.workspace.undo(id(written))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  writeFileSync(ws.file('large'), large.fill('a', 0, 1));
  expect(await ws.workspace.undo(id(written))).toMatchObject({ ok: true, value: { restored: ['large'] } });
  expect(ws.workspace.canUndo(id(written))).toBe(false);
});

test('a deleted folder that is back is known again while the journal still holds some of it', async () => {
  await using ws = await tempWorkspace({ files: { 'd/x.txt': 'X', 'd/e/y.txt': 'Y' } });
  symlinkSync('x.txt', ws.file('d/link'));
  const deleted = await ws.call('delete_file', { path: 'd', recursive: true });
  const [kept] = readdirSync(`${ws.journal}/images`);
  const image = `${ws.journal}/images/${kept}`;
  const disarm = armFailpoints(stopAfter(1));
  await expect(ws.workspace.undo(id(deleted))).rejects.toThrow('ended here');
  disarm();
  // As a journal on another file system is left when the process ends before all of the image is removed.
  cpSync(ws.file('d'), image, { recursive: true, verbatimSymlinks: true });
  rmSync(`${image}/x.txt`);
  writeFileSync(ws.file('d/e/y.txt'), 'Z');
  expect(await ws.workspace.undo(id(deleted))).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  writeFileSync(ws.file('d/e/y.txt'), 'Y');
  expect(await ws.workspace.undo(id(deleted))).toMatchObject({ ok: true, value: { restored: ['d'] } });
  expect(readFileSync(ws.file('d/x.txt'), 'utf8')).toBe('X');
});

function stopAfter(changes: number): (name: string) => void {
  let left = changes;
  return (name) => {
    if (name === 'workspace.reverted' && --left === 0) throw new Error('ended here');
  };
}
