import { execFileSync } from 'node:child_process';
import { cpSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../testing/temp-workspace.ts';
import { openWorkspace } from './open-workspace.ts';

test.each([
  ['NUL', 'ok.txt\0.png'],
  ['an empty path', ''],
  ['a sibling with the same beginning', '{top}/ws-evil/x'],
  ['another root', '/proc/self/root/etc/passwd'],
  ['our own environment', '/proc/self/environ'],
  ['an open handle', '/dev/fd/0'],
  ['the home', '~/.ssh/id_rsa'],
  ['a path too long', 'a/'.repeat(3000)],
  ['a name too long', 'n'.repeat(300)],
  ['half a character', 'a\ud800b'],
  ['a climb', 'src/../../out/secret.txt'],
])('%s is refused with INVALID_PATH by every operation', async (_what, given) => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok' } });
  mkdirSync(`${ws.top}/ws-evil`);
  writeFileSync(`${ws.top}/ws-evil/x`, 'CANARY');
  const path = given.replace('{top}', ws.top);
  for (const [tool, args] of [
    ['read_file', { path }],
    ['write_file', { path, content: 'x' }],
    ['edit_file', { path, edits: [{ old: 'CANARY', new: 'x' }] }],
    ['delete_file', { path, recursive: true }],
    ['move_file', { from: path, to: 'got' }],
    ['move_file', { from: 'ok.txt', to: path }],
    ['list_directory', { path }],
    ['grep', { pattern: 'CANARY', path }],
  ] as const) {
    expect((await ws.call(tool, args)).error, tool).toMatchObject({ code: 'INVALID_PATH' });
  }
  expect(readFileSync(ws.file('ok.txt'), 'utf8')).toBe('ok');
});

test.each(['%2e%2e/out/secret.txt', '..\\..\\out\\secret.txt', '．．/out/secret.txt', 'file:///etc/passwd'])(
  '%s is only a name that is not there: nothing is decoded or folded',
  async (path) => {
    await using ws = await tempWorkspace();
    expect((await ws.call('read_file', { path })).error).toMatchObject({ code: 'FILE_NOT_FOUND' });
  },
);

test('Unicode twins are two files', async () => {
  await using ws = await tempWorkspace();
  const [composed, decomposed] = ['caf\u00e9.txt', 'cafe\u0301.txt'];
  await ws.call('write_file', { path: composed, content: 'one' });
  await ws.call('write_file', { path: decomposed, content: 'two' });
  expect((await ws.call('read_file', { path: composed })).text).toBe('one');
  expect((await ws.call('read_file', { path: decomposed })).text).toBe('two');
});

test('links that stay inside work, however they get there; those that leave or turn in circles do not', async () => {
  await using ws = await tempWorkspace({ files: { 'v1/f.txt': 'v1', 'deep/a/b/x.txt': 'x' } });
  const links = {
    current: 'v1',
    absolute: `${ws.root}/v1`,
    'deep/up': '../v1',
    'deep/a/out-and-in': '../../deep/a/b/x.txt',
    chain: 'deep/up/f.txt',
    loop1: 'loop2',
    loop2: 'loop1',
    out: '../out',
    'deep/out': '../../out',
    sneaky: 'v1/../../out/secret.txt',
    proc: '/proc/self/root/etc/passwd',
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, ws.file(path));
  writeFileSync(`${ws.outside}/secret.txt`, 'CANARY');
  const read = async (path: string) => (await ws.call('read_file', { path })).text;
  for (const path of ['current/f.txt', 'absolute/f.txt', 'deep/up/f.txt', 'chain'])
    expect(await read(path), path).toBe('v1');
  expect(await read('deep/a/out-and-in')).toBe('x');
  for (const path of ['loop1', 'out/secret.txt', 'deep/out/secret.txt', 'sneaky', 'proc']) {
    const refused = await ws.call('read_file', { path });
    expect(refused.error, path).toMatchObject({ code: 'INVALID_PATH' });
  }
});

test('a workspace that is itself reached through a link works, by either name', async () => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok' } });
  symlinkSync(ws.root, `${ws.top}/wslink`);
  const linked = await openWorkspace({ root: `${ws.top}/wslink` });
  const { createToolwright } = await import('../runtime/create-toolwright.ts');
  const { builtInTools } = await import('../tools/index.ts');
  const { call } = createToolwright({ tools: builtInTools, world: linked, workingDir: `${ws.top}/wslink` });
  for (const path of ['ok.txt', `${ws.top}/wslink/ok.txt`, `${ws.root}/ok.txt`]) {
    expect((await call('read_file', { path })).text, path).toBe('ok');
  }
  linked.close();
});

test('a workspace that was removed and made again is found again', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'old' } });
  await ws.call('read_file', { path: 'a.txt' });
  rmSync(ws.root, { recursive: true });
  mkdirSync(ws.root);
  writeFileSync(ws.file('a.txt'), 'new');
  expect((await ws.call('read_file', { path: 'a.txt' })).text).toBe('new');
});

test('pipes, sockets and devices are refused, and nobody waits for them', async () => {
  await using ws = await tempWorkspace();
  execFileSync('mkfifo', [ws.file('pipe')]);
  execFileSync('mknod', [ws.file('zero'), 'c', '1', '5']);
  symlinkSync('/dev/zero', ws.file('link'));
  const server = createServer().listen(ws.file('s.sock'));
  const start = performance.now();
  for (const path of ['pipe', 'zero', 'link', 's.sock']) {
    for (const [tool, args] of [
      ['read_file', { path }],
      ['write_file', { path, content: 'x' }],
      ['edit_file', { path, edits: [{ old: 'a', new: 'b' }] }],
    ] as const) {
      expect((await ws.call(tool, args)).error, `${tool} ${path}`).toMatchObject({ code: 'INVALID_PATH' });
    }
  }
  expect((await ws.call('move_file', { from: 'pipe', to: 'p2' })).error?.code).toBe('INVALID_PATH');
  expect(performance.now() - start).toBeLessThan(5000);
  server.close();
});

test('a hard link to a file outside is replaced, not written through; one to a secret is refused', async () => {
  await using ws = await tempWorkspace({ files: { '.env': 'K=CANARY', 'plain.txt': 'p' } });
  writeFileSync(`${ws.outside}/secret.txt`, 'OUT');
  linkSync(`${ws.outside}/secret.txt`, ws.file('hl.txt'));
  linkSync(ws.file('.env'), ws.file('innocent.txt'));
  linkSync(ws.file('plain.txt'), ws.file('twin.txt'));
  await ws.call('write_file', { path: 'hl.txt', content: 'OWNED' });
  expect(readFileSync(`${ws.outside}/secret.txt`, 'utf8')).toBe('OUT');
  expect(readFileSync(ws.file('hl.txt'), 'utf8')).toBe('OWNED');
  for (const [tool, args] of [
    ['read_file', { path: 'innocent.txt' }],
    ['write_file', { path: 'innocent.txt', content: 'x' }],
    ['move_file', { from: 'innocent.txt', to: 'y.txt' }],
    ['delete_file', { path: 'innocent.txt' }],
  ] as const) {
    expect((await ws.call(tool, args)).error, tool).toMatchObject({ code: 'PERMISSION_DENIED' });
  }
  expect((await ws.call('read_file', { path: 'twin.txt' })).text).toBe('p');
});

test('a hard link to a file outside is not read, and the refusal says what helps', async () => {
  await using ws = await tempWorkspace({ files: { 'own.txt': 'one\n' } });
  writeFileSync(`${ws.outside}/notes.txt`, 'CANARY one\n');
  linkSync(`${ws.outside}/notes.txt`, ws.file('notes.txt'));
  const edits = [{ old: 'one', new: 'two' }];
  for (const [tool, args] of [
    ['read_file', { path: 'notes.txt' }],
    ['edit_file', { path: 'notes.txt', edits }],
    ['grep', { pattern: 'CANARY', path: 'notes.txt' }],
    ['grep', { pattern: 'one' }],
  ] as const) {
    const { error, text } = await ws.call(tool, args);
    expect(text, tool).not.toContain('CANARY');
    if (tool !== 'grep') expect(error, tool).toMatchObject({ code: 'PERMISSION_DENIED' });
    if (tool !== 'grep') expect(error?.message).toMatch(/hard link to a file outside.* replace it with a copy/);
  }
  cpSync(ws.file('notes.txt'), ws.file('copy'));
  renameSync(ws.file('copy'), ws.file('notes.txt'));
  expect((await ws.call('read_file', { path: 'notes.txt' })).text).toBe('CANARY one\n');
});

test('a file is read whose other names are in the workspace, in a package store or in the journal', async () => {
  const files = { 'a.txt': 'a', 'packages/x/index.js': 'x', 'node_modules/y/y.js': 'y', 'z.txt': 'z' };
  await using ws = await tempWorkspace({ files });
  linkSync(ws.file('a.txt'), ws.file('packages/twin.txt'));
  mkdirSync(ws.file('node_modules/x'));
  linkSync(ws.file('packages/x/index.js'), ws.file('node_modules/x/index.js'));
  linkSync(ws.file('node_modules/y/y.js'), `${ws.outside}/store-of-packages.js`);
  linkSync(ws.file('z.txt'), `${ws.journal}/images/kept`);
  for (const [path, content] of Object.entries(files)) {
    expect((await ws.call('read_file', { path })).text, path).toBe(content);
    expect((await ws.call('grep', { pattern: content, path })).value, path).toMatchObject({ totalFiles: 1 });
  }
});

test('a state directory inside the workspace is out of reach', async () => {
  await using ws = await tempWorkspace({ files: { 'st/state.db': 'rows', 'a.txt': 'a' } });
  const own = await openWorkspace({
    root: ws.root,
    ownFolders: [ws.file('st')],
    journal: { folder: ws.file('jn') },
  });
  const { createToolwright } = await import('../runtime/create-toolwright.ts');
  const { builtInTools } = await import('../tools/index.ts');
  const { call } = createToolwright({ tools: builtInTools, world: own });
  for (const path of ['st/state.db', 'jn/logs/x', 'st']) {
    expect((await call('read_file', { path })).error, path).toMatchObject({ code: 'PERMISSION_DENIED' });
  }
  expect((await call('move_file', { from: 'st', to: 'st2' })).error?.code).toBe('PERMISSION_DENIED');
  own.close();
});

test('a folder moved out of the workspace while it is held is not written to', async () => {
  await using ws = await tempWorkspace({ files: { 'd/a.txt': 'a' } });
  const { WorkspaceRoot } = await import('./workspace-root.ts');
  const { createFilePolicy } = await import('../kernel/world/file-policy.ts');
  const place = new WorkspaceRoot(ws.root, createFilePolicy());
  const spot = place.locate('d/b.txt', { last: 'follow' });
  expect(spot.ok && spot.value.folder.isInPlace()).toBe(true);
  renameSync(ws.file('d'), `${ws.outside}/d`);
  expect(spot.ok && spot.value.folder.isInPlace()).toBe(false);
  if (spot.ok) spot.value.folder.close();
  place.close();
});

test('a tool cannot change what it did not declare', async () => {
  await using ws = await tempWorkspace();
  const { defineTool } = await import('../kernel/tool/tool.ts');
  const { z } = await import('zod');
  const sly = defineTool({
    name: 'sly',
    description: 'Says it writes one file and writes another.',
    input: z.object({}),
    access: () => [{ kind: 'fs.write', path: 'declared.txt' }],
    run: (_input, ctx) => ctx.files.apply([{ kind: 'write', path: 'other.txt', content: { text: 'x' } }]),
  });
  ws.toolwright.registry.register(sly);
  expect((await ws.call('sly', {})).error).toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('did not declare'),
  });
});
