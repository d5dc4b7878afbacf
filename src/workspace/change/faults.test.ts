import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLogger } from '../../kernel/ports.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { openWorkspace } from '../open-workspace.ts';

test('a full disk leaves the original intact, removes what was begun, and says so', async () => {
  await using ws = await tempWorkspace({ files: {} });
  mkdirSync(ws.file('small'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', ws.file('small')]);
  try {
    writeFileSync(ws.file('small/f.txt'), 'old');
    for (const [tool, args] of [
      ['write_file', { path: 'small/f.txt', content: 'x'.repeat(3_000_000) }],
      ['edit_file', { path: 'small/f.txt', edits: [{ old: 'old', new: 'y'.repeat(3_000_000) }] }],
      ['write_file', { path: 'small/new/deep.txt', content: 'x'.repeat(3_000_000) }],
    ] as const) {
      const failed = await ws.call(tool, args);
      expect(failed.error, tool).toMatchObject({ code: 'EXECUTION_ERROR', details: { errno: 'ENOSPC' } });
      expect(failed.text).toContain('disk is full');
      expect(readFileSync(ws.file('small/f.txt'), 'utf8')).toBe('old');
    }
    expect(readdirSync(ws.file('small'))).toEqual(['f.txt']);
  } finally {
    execFileSync('umount', [ws.file('small')]);
  }
});

test('a read-only file system and a full journal leave the original intact', async () => {
  await using ws = await tempWorkspace();
  mkdirSync(ws.file('fixed'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', ws.file('fixed')]);
  try {
    writeFileSync(ws.file('fixed/f.txt'), 'old');
    execFileSync('mount', ['-o', 'remount,ro', ws.file('fixed')]);
    for (const [tool, args] of [
      ['write_file', { path: 'fixed/f.txt', content: 'new' }],
      ['write_file', { path: 'fixed/a/b.txt', content: 'new' }],
      ['delete_file', { path: 'fixed/f.txt' }],
      ['move_file', { from: 'fixed/f.txt', to: 'g.txt' }],
    ] as const) {
      expect((await ws.call(tool, args)).error, tool).toMatchObject({ code: 'PERMISSION_DENIED' });
    }
    expect(readdirSync(ws.file('fixed'))).toEqual(['f.txt']);
    expect(readdirSync(ws.root)).toEqual(['fixed']);
  } finally {
    execFileSync('umount', [ws.file('fixed')]);
  }
});

test('writes happen in the order write, sync, rename, sync of the folder', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old' } });
  const script = `
    import { builtInTools, createToolwright, openWorkspace } from '${new URL('../../../dist/index.js', import.meta.url)}';
    const world = await openWorkspace({ root: process.argv[1] });
    const { call } = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
    const { ok } = await call('write_file', { path: 'a.txt', content: 'STRACE-NEW' });
    process.exit(ok ? 0 : 1);`;
  const node = [process.execPath, '--input-type=module', '-e', script, ws.root];
  const traced = spawnSync('strace', ['-f', '-e', 'trace=write,pwrite64,fsync,rename', ...node], { encoding: 'utf8' });
  expect(traced.error, 'strace is needed').toBeUndefined();
  const calls = traced.stderr.split('\n').filter((line) => /STRACE-NEW|fsync\(\d+\)\s+= 0|rename\(/.test(line));
  expect(calls.map((line) => /(write|fsync|rename)/.exec(line)?.[0])).toEqual(['write', 'fsync', 'rename', 'fsync']);
});

test('fifty writers of one file leave one of their texts whole', async () => {
  await using ws = await tempWorkspace({ files: { 'c.txt': 'start' } });
  const bodies = Array.from({ length: 50 }, (_, index) => String.fromCharCode(65 + index).repeat(100_000));
  const results = await Promise.all(bodies.map((content) => ws.call('write_file', { path: 'c.txt', content })));
  expect(results.filter(({ ok }) => ok).length).toBeGreaterThan(0);
  for (const { error } of results) if (error !== null) expect(error.code).toBe('APPROVAL_DENIED');
  expect(bodies).toContain(readFileSync(ws.file('c.txt'), 'utf8'));
  expect(readdirSync(ws.root)).toEqual(['c.txt']);
});

test('folders that a killed process made for a file it never wrote are gone after the next start', async () => {
  await using ws = await tempWorkspace({ files: { 'mine/.keep': '' } });
  const source = (path: string) => new URL(path, import.meta.url);
  const script = `
    import { armFailpoints } from '${source('../../kernel/failpoint.ts')}';
    import { createToolwright } from '${source('../../runtime/create-toolwright.ts')}';
    import { writeFile } from '${source('../../tools/fs/write-file.ts')}';
    import { openWorkspace } from '${source('../open-workspace.ts')}';
    const [root, folder] = process.argv.slice(1);
    const world = await openWorkspace({ root, journal: { folder } });
    armFailpoints((name) => name === 'workspace.prepared' && process.kill(process.pid, 'SIGKILL'));
    await createToolwright({ tools: [writeFile], world }).call('write_file', { path: 'mine/a/b/c.txt', content: 'x' });`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script, ws.root, ws.journal];
  const child = spawn(process.execPath, node, { stdio: 'inherit' });
  expect(await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))).toBe('SIGKILL');
  expect(readdirSync(ws.file('mine'))).toEqual(['.keep', 'a']);
  (await openWorkspace({ root: ws.root, journal: { folder: ws.journal } })).close();
  expect(readdirSync(ws.file('mine'))).toEqual(['.keep']);
});

/** Applies a patch in a process that is killed when it reaches a failpoint. */
async function killedPatch(root: string, journal: string, patch: string, at: string): Promise<void> {
  const source = (path: string) => new URL(path, import.meta.url);
  const script = `
    import { armFailpoints } from '${source('../../kernel/failpoint.ts')}';
    import { createToolwright } from '${source('../../runtime/create-toolwright.ts')}';
    import { applyPatch } from '${source('../../tools/fs/apply-patch.ts')}';
    import { openWorkspace } from '${source('../open-workspace.ts')}';
    const [root, folder, patch, at] = process.argv.slice(1);
    const world = await openWorkspace({ root, journal: { folder } });
    armFailpoints((name) => name === at && process.kill(process.pid, 'SIGKILL'));
    const approver = () => ({ approved: true });
    await createToolwright({ tools: [applyPatch], world, approver }).call('apply_patch', { patch });`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script, root, journal, patch, at];
  const child = spawn(process.execPath, node, { stdio: 'inherit' });
  expect(await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))).toBe('SIGKILL');
}

const DELETES_AND_UPDATES = `*** Begin Patch
*** Delete File: a.txt
*** Update File: b.txt
@@
-old b
+new b
*** End Patch
`;

test('what a killed process had deleted comes back beside what somebody put in its place', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old a', 'b.txt': 'old b\n' } });
  await killedPatch(ws.root, ws.journal, DELETES_AND_UPDATES, 'workspace.looked');
  expect(readdirSync(ws.root).filter((name) => name === 'a.txt')).toEqual([]);
  writeFileSync(ws.file('a.txt'), 'new a');
  writeFileSync(ws.file('a.txt.recovered'), 'from before');
  const said: string[] = [];
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => said.push(message) };
  (await openWorkspace({ root: ws.root, journal: { folder: ws.journal }, logger })).close();
  const texts = readdirSync(ws.root).map((name) => [name, readFileSync(ws.file(name), 'utf8')]);
  expect(Object.fromEntries(texts)).toEqual({
    'a.txt': 'new a',
    'a.txt.recovered': 'from before',
    'a.txt.recovered-2': 'old a',
    'b.txt': 'old b\n',
  });
  expect(said).toEqual([expect.stringContaining('What it had deleted is now a.txt.recovered-2.')]);
});

test('what a killed process had not deleted yet is there once', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old a', 'b.txt': 'old b\n' } });
  const elsewhere = mkdtempSync('/dev/shm/journal-');
  try {
    await killedPatch(ws.root, elsewhere, DELETES_AND_UPDATES, 'workspace.copied');
    (await openWorkspace({ root: ws.root, journal: { folder: elsewhere } })).close();
    expect(readdirSync(ws.root)).toEqual(['a.txt', 'b.txt']);
    expect(readdirSync(join(elsewhere, 'images')).filter((name) => name.endsWith('.tree'))).toEqual([]);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});
