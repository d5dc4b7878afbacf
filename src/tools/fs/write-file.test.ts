import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

test('[A09][D06][E03] writes a new file, makes its folders, and answers with path and size', async () => {
  await using ws = await tempWorkspace();
  const written = await ws.call('write_file', { path: 'reports/2026/efficiency_report.md', content: '# Report\n' });
  expect(written.value).toMatchObject({ path: 'reports/2026/efficiency_report.md', size: 9, created: true });
  expect(written.text).toBe('Created reports/2026/efficiency_report.md (9 bytes).');
  expect(readFileSync(ws.file('reports/2026/efficiency_report.md'), 'utf8')).toBe('# Report\n');
  expect(readdirSync(ws.file('reports/2026'))).toEqual(['efficiency_report.md']);
});

test('[E03] base64 writes bytes, and createDirs: false makes no folder', async () => {
  await using ws = await tempWorkspace();
  expect((await ws.call('write_file', { path: 'a.bin', content: 'AP8B', encoding: 'base64' })).value).toMatchObject({
    size: 3,
  });
  expect([...readFileSync(ws.file('a.bin'))]).toEqual([0, 255, 1]);
  const bad = await ws.call('write_file', { path: 'b.bin', content: 'not base64!', encoding: 'base64' });
  expect(bad.error).toMatchObject({ code: 'INVALID_INPUT' });
  const refused = await ws.call('write_file', { path: 'no/such/a.txt', content: 'x', createDirs: false });
  expect(refused.error).toMatchObject({ code: 'FILE_NOT_FOUND' });
  expect(existsSync(ws.file('no'))).toBe(false);
});

test('[A10][E04] overwriting asks first, a new file does not; the result says that it overwrote', async () => {
  await using ws = await tempWorkspace({ files: { 'old.txt': 'old\n' } });
  await ws.call('write_file', { path: 'new.txt', content: 'x' });
  expect(ws.asked).toEqual([]);
  const written = await ws.call('write_file', { path: 'old.txt', content: 'new\n' });
  expect(ws.asked).toEqual(['It changes old.txt, which exists.']);
  expect(written.text).toContain('Overwrote old.txt');
  expect(written.text).toContain('-old\n+new');
  expect(readFileSync(ws.file('old.txt'), 'utf8')).toBe('new\n');
});

test('[E04] a person who says no leaves the file as it is', async () => {
  await using ws = await tempWorkspace({ files: { 'old.txt': 'old\n' }, approve: false });
  const refused = await ws.call('write_file', { path: 'old.txt', content: 'new\n' });
  expect(refused.error).toMatchObject({ code: 'APPROVAL_DENIED' });
  expect(readFileSync(ws.file('old.txt'), 'utf8')).toBe('old\n');
});

test('[E04] "new, so no question" is enforced at the write: what appeared meanwhile is not overwritten', async () => {
  await using ws = await tempWorkspace({ options: { hooks: [] } });
  const both = ws.toolwright.executor.executeMany(
    [
      { tool: 'write_file', args: { path: 'n.txt', content: 'first' } },
      { tool: 'write_file', args: { path: 'n.txt', content: 'second' } },
    ],
    ws.toolwright.context,
  );
  const [first, second] = await both;
  expect(first?.ok).toBe(true);
  expect(second?.error).toMatchObject({ code: 'CONFLICT' });
  expect(readFileSync(ws.file('n.txt'), 'utf8')).toBe('first');
});

test('[A11][D07] writing outside is refused, and nothing is written', async () => {
  await using ws = await tempWorkspace();
  symlinkSync(ws.outside, ws.file('link'));
  symlinkSync(`${ws.outside}/not-yet.txt`, ws.file('draft.txt'));
  for (const path of ['../out/x', `${ws.outside}/x`, 'link/x', 'link/deep/x', 'draft.txt', '/tmp/toolwright-escape']) {
    const refused = await ws.call('write_file', { path, content: 'x' });
    expect(refused.error, path).toMatchObject({
      code: 'INVALID_PATH',
      message: expect.stringContaining('Access denied'),
    });
  }
  expect(readdirSync(ws.outside)).toEqual([]);
  expect(existsSync('/tmp/toolwright-escape')).toBe(false);
});

test('mode, byte order mark, CRLF, encoding and a link to the file are kept', async () => {
  const { default: iconv } = await import('iconv-lite');
  const latin = iconv.encode('première ligne, café à la crème\n', 'latin1');
  const files = { 'run.sh': 'old', 'bom.cs': '\ufeffx\r\ny\r\n', 'l.txt': latin, 'real.txt': 'old' };
  await using ws = await tempWorkspace({ files });
  chmodSync(ws.file('run.sh'), 0o751);
  symlinkSync('real.txt', ws.file('cur.txt'));
  await ws.call('write_file', { path: 'run.sh', content: '#!/bin/sh\n' });
  await ws.call('write_file', { path: 'bom.cs', content: 'a\nb\n' });
  const kept = await ws.call('write_file', { path: 'l.txt', content: 'garçon\n' });
  await ws.call('write_file', { path: 'cur.txt', content: 'new' });
  expect(statSync(ws.file('run.sh')).mode & 0o777).toBe(0o751);
  expect(readFileSync(ws.file('bom.cs'), 'utf8')).toBe('\ufeffa\r\nb\r\n');
  expect(kept.text).toMatch(/written as (latin1|windows-1252|iso-8859)/);
  expect(readFileSync(ws.file('l.txt'), 'latin1')).toBe('garçon\n');
  expect(lstatSync(ws.file('cur.txt')).isSymbolicLink()).toBe(true);
  expect(readFileSync(ws.file('real.txt'), 'utf8')).toBe('new');
});

test('what the encoding of the file cannot hold is refused, not replaced', async () => {
  const { default: iconv } = await import('iconv-lite');
  const bytes = iconv.encode('déjà vu, naïve café, crème brûlée, garçon\n', 'latin1');
  await using ws = await tempWorkspace({ files: { 'l.txt': bytes } });
  const refused = await ws.call('write_file', { path: 'l.txt', content: '漢字' });
  expect(refused.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining("'漢'") });
  expect(readFileSync(ws.file('l.txt')).equals(bytes)).toBe(true);
});

test('a stale version is refused with a short diff, and so is a file that changed since the session read it', async () => {
  await using ws = await tempWorkspace({ files: { 's.txt': 'one\ntwo\n' } });
  const read = await ws.call('read_file', { path: 's.txt' });
  const { version } = read.value as { version: string };
  writeFileSync(ws.file('s.txt'), 'one\nTWO\n');
  const stale = await ws.call('write_file', { path: 's.txt', content: 'mine', version });
  expect(stale.error).toMatchObject({ code: 'CONFLICT' });
  expect(stale.text).toContain('-two\n+TWO');
  const untagged = await ws.call('write_file', { path: 's.txt', content: 'mine' });
  expect(untagged.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('Read it again') });
  expect(readFileSync(ws.file('s.txt'), 'utf8')).toBe('one\nTWO\n');
  await ws.call('read_file', { path: 's.txt' });
  expect((await ws.call('write_file', { path: 's.txt', content: 'mine' })).ok).toBe(true);
});

test('own changes do not make a session stale', async () => {
  await using ws = await tempWorkspace({ files: { 's.txt': 'one\n' } });
  await ws.call('read_file', { path: 's.txt' });
  for (const [tool, args] of [
    ['edit_file', { path: 's.txt', edits: [{ old: 'one', new: 'two' }] }],
    ['edit_file', { path: 's.txt', edits: [{ old: 'two', new: 'three' }] }],
    ['write_file', { path: 's.txt', content: 'four\n' }],
  ] as const) {
    expect((await ws.call(tool, args)).ok, tool).toBe(true);
  }
});

test('protected paths need a yes even if they do not exist yet, in any letter case; our own are refused', async () => {
  await using ws = await tempWorkspace({ approve: false });
  for (const path of ['.git/hooks/pre-commit', '.GIT/hooks/pre-commit', '.git/HEAD', '.vscode/tasks.json', '.bashrc']) {
    const refused = await ws.call('write_file', { path, content: 'x' });
    expect(refused.error, path).toMatchObject({ code: 'APPROVAL_DENIED' });
    expect(existsSync(ws.file(path)), path).toBe(false);
  }
  for (const path of ['.toolwright/config.json', '.TOOLWRIGHT/x']) {
    expect((await ws.call('write_file', { path, content: 'x' })).error, path).toMatchObject({
      code: 'PERMISSION_DENIED',
    });
  }
  expect(ws.asked.length).toBe(5);
});

test('a file that is marked read-only is left alone', async () => {
  await using ws = await tempWorkspace({ files: { 'r.txt': 'keep' } });
  chmodSync(ws.file('r.txt'), 0o444);
  expect((await ws.call('write_file', { path: 'r.txt', content: 'x' })).error).toMatchObject({
    code: 'PERMISSION_DENIED',
  });
  expect(readFileSync(ws.file('r.txt'), 'utf8')).toBe('keep');
});

test('a dry run says what would change, with the diff, and changes nothing', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n' }, options: { dryRun: true } });
  const over = await ws.call('write_file', { path: 'a.txt', content: 'two\n' });
  expect(over.text).toMatch(/^\[Dry Run\] Would run:.*overwrite a\.txt[\s\S]*-one\n\+two/);
  expect((await ws.call('write_file', { path: 'new/deep/b.txt', content: 'x' })).text).toContain(
    'create new/deep/b.txt',
  );
  expect((await ws.call('write_file', { path: '../b.txt', content: 'x' })).error?.code).toBe('INVALID_PATH');
  expect((await ws.call('edit_file', { path: 'a.txt', edits: [{ old: 'one', new: '1' }] })).text).toContain('-one\n+1');
  expect((await ws.call('delete_file', { path: 'a.txt' })).text).toContain('Would delete:\na.txt');
  expect((await ws.call('move_file', { from: 'a.txt', to: 'x/y.txt' })).text).toContain('Would move a.txt to x/y.txt');
  const patch = '*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** End Patch';
  expect((await ws.call('apply_patch', { patch })).text).toContain('-one\n+1');
  expect(readdirSync(ws.root)).toEqual(['a.txt']);
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n');
});

test('without a workspace every file tool says how to get one', async () => {
  const { createToolwright } = await import('../../runtime/create-toolwright.ts');
  const { builtInTools } = await import('../index.ts');
  const bare = createToolwright({ tools: builtInTools });
  for (const [tool, args] of [
    ['read_file', { path: 'a' }],
    ['write_file', { path: 'a', content: 'x' }],
    ['grep', { pattern: 'x' }],
  ] as const) {
    const refused = await bare.call(tool, args);
    expect(refused.error, tool).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('openWorkspace'),
    });
  }
});

test('a call that works in another folder than the workspace touches neither', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'x' } });
  const elsewhere = await ws.toolwright.executor.execute('read_file', { workingDir: ws.outside }, { path: 'a.txt' });
  expect(elsewhere.error).toMatchObject({ code: 'NOT_CONFIGURED' });
});

test('a text that only looks a little like a notice is written', async () => {
  await using ws = await tempWorkspace();
  const content = '[Lines 1-5]\n[Image: a cat]\n[Binary file: no]\n';
  expect((await ws.call('write_file', { path: 'd.md', content })).ok).toBe(true);
});

test.each([
  '[Image: a.png, 10 bytes.]',
  'text\n[Lines 1-20 of 90. Continue with offset=21.]  \n',
  'text\r\n[Lines -5 to -1 of 90, the end of the file.]\r\n',
  '[Binary file: 12 bytes has no text to show. Use bash.]',
])('%j holds a notice and is not written', async (content) => {
  await using ws = await tempWorkspace();
  expect((await ws.call('write_file', { path: 'd.md', content })).error).toMatchObject({ code: 'INVALID_INPUT' });
});

test.each([
  ['one line that never ends', `[Image:${' bytes.'.repeat(200_000)}`],
  ['digits', `[Lines 1-${'1'.repeat(1_000_000)}`],
  ['lines', `[Image:${' bytes.'.repeat(1000)}\n`.repeat(200)],
  ['returns', '\r[Image:  bytes.'.repeat(100_000)],
])('a notice begun in %s takes no longer than its length asks for', async (_what, content) => {
  await using ws = await tempWorkspace();
  const started = performance.now();
  expect((await ws.call('write_file', { path: 'd.md', content })).ok).toBe(true);
  expect(performance.now() - started).toBeLessThan(3_000);
});
