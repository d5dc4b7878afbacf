import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

async function edited(content: string | Uint8Array, ...edits: { old: string; new: string; replaceAll?: boolean }[]) {
  await using ws = await tempWorkspace({ files: { 'f.txt': content } });
  const result = await ws.call('edit_file', { path: 'f.txt', edits });
  return { result, text: readFileSync(ws.file('f.txt'), 'latin1'), asked: ws.asked };
}

const strategies = (result: { value?: unknown }) =>
  (result.value as { edits: { strategy: string }[] }).edits.map(({ strategy }) => strategy);

test('[A10] edits in order, all in one write, asks like an overwrite, and answers with a diff', async () => {
  const { result, text, asked } = await edited('a\nb\nc\n', { old: 'a', new: 'A' }, { old: 'A\nb', new: 'A\nB' });
  expect(text).toBe('A\nB\nc\n');
  expect(result.text).toContain('-a\n-b\n+A\n+B\n c');
  expect(strategies(result)).toEqual(['exact', 'exact']);
  expect(asked).toEqual(['It changes f.txt, which exists.']);
});

test('is all or nothing', async () => {
  const { result, text } = await edited('a\nb\n', { old: 'a', new: 'A' }, { old: 'zzz', new: 'y' });
  expect(result.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('Edit 2 of 2') });
  expect(text).toBe('a\nb\n');
});

test.each([
  ['line endings', 'one\r\ntwo\r\nthree\r\n', { old: 'one\ntwo', new: '1\n2\n2b' }, '1\r\n2\r\n2b\r\nthree\r\n'],
  ['trailing blanks', 'one  \ntwo\t\nthree\n', { old: 'one\ntwo\n', new: 'ONE\n' }, 'ONE\nthree\n'],
  [
    'indentation',
    '    if (x) {\n      y();\n    }\n',
    { old: 'if (x) {\n  y();\n}', new: 'if (x) {\n  z();\n}' },
    '    if (x) {\n      z();\n    }\n',
  ],
  [
    'indentation',
    'if (x) {\n  y();\n}\n',
    { old: '  if (x) {\n    y();\n  }', new: '  if (z) {\n    y();\n  }' },
    'if (z) {\n  y();\n}\n',
  ],
])('a difference in %s alone is bridged, and said', async (strategy, before, edit, after) => {
  const { result, text } = await edited(before, edit);
  expect(text).toBe(after);
  expect(strategies(result)).toEqual([strategy]);
  expect(result.text).toContain(`matched with different ${strategy}`);
});

test.each([
  ['a changed word', 'const total = sum(items);\nreturn total;\n', 'const total = add(items);\nreturn total;'],
  ['uneven indentation', 'a\n  b\n      c\n', 'a\n    b\n    c'],
  ['a missing line', 'one\ntwo\nthree\n', 'one\nthree'],
])('%s is a near miss: reported with its lines, never applied', async (_what, before, old) => {
  const { result, text } = await edited(before, { old, new: 'x' });
  expect(result.error?.code).toBe('INVALID_INPUT');
  expect(result.text).toMatch(/closest text is in lines 1–\d.*first difference at line \d/s);
  expect(text).toBe(before);
});

test('several matches are all listed, and replaced only with replaceAll', async () => {
  const { result, text } = await edited('x\ny\nx\n', { old: 'x', new: 'z' });
  expect(result.error?.message).toContain('matches 2 places in f.txt, at lines 1, 3');
  expect(text).toBe('x\ny\nx\n');
  expect((await edited('x\ny\nx\n', { old: 'x', new: 'z', replaceAll: true })).text).toBe('z\ny\nz\n');
});

test('dollar signs in the new text are only dollar signs', async () => {
  expect((await edited('X\n', { old: 'X', new: '$& $1 $$ $`' })).text).toBe('$& $1 $$ $`\n');
});

test.each([
  ['an empty old text', { old: '', new: 'EVIL' }],
  ['the same text', { old: 'a', new: 'a' }],
])('%s is refused', async (_what, edit) => {
  const { result, text } = await edited('a\n', edit);
  expect(result.error?.code).toBe('INVALID_INPUT');
  expect(text).toBe('a\n');
});

test('mixed line endings, a byte order mark and a missing final newline stay as they are', async () => {
  expect((await edited('a\r\nb\nc\r\n', { old: 'b', new: 'B' })).text).toBe('a\r\nB\nc\r\n');
  expect((await edited('a\r\nb\nc\r\n', { old: 'c', new: 'C\nD' })).text).toBe('a\r\nb\nC\r\nD\r\n');
  expect((await edited(Buffer.from('\ufeffx\n'), { old: 'x', new: 'y' })).text).toBe('\xef\xbb\xbfy\n');
  expect((await edited('a  ', { old: 'a  ', new: 'b  ' })).text).toBe('b  ');
});

test('bytes that are no UTF-8 stay what they are', async () => {
  const { text } = await edited(Buffer.from('const x = 1;\n// caf\xe9 cr\xe8me\n', 'latin1'), {
    old: 'x = 1',
    new: 'x = 2',
  });
  expect(text).toBe('const x = 2;\n// caf\xe9 cr\xe8me\n');
});

test('a stale version is refused with what changed', async () => {
  await using ws = await tempWorkspace({ files: { 'f.txt': 'one\ntwo\n' } });
  const read = await ws.call('read_file', { path: 'f.txt' });
  writeFileSync(ws.file('f.txt'), 'one\n2\n');
  const { version } = read.value as { version: string };
  const stale = await ws.call('edit_file', { path: 'f.txt', version, edits: [{ old: 'one', new: '1' }] });
  expect(stale.error?.code).toBe('CONFLICT');
  expect(stale.text).toContain('-two\n+2');
});

const allowing = { decide: () => ({ verdict: 'allow', rule: 'test', reason: 'test' }) as const };

test('two edits of one file at once both arrive where nobody is asked: the second is planned again', async () => {
  await using ws = await tempWorkspace({ files: { 'n.md': 'a\nb\nc\n' }, options: { policy: allowing } });
  const edit = (old: string) => ws.call('edit_file', { path: 'n.md', edits: [{ old, new: old.toUpperCase() }] });
  const results = await Promise.all([edit('a'), edit('c')]);
  expect(results.map(({ ok }) => ok)).toEqual([true, true]);
  expect(readFileSync(ws.file('n.md'), 'utf8')).toBe('A\nb\nC\n');
});

test('a yes to one of two edits at once is none to the file that the other one leaves', async () => {
  await using ws = await tempWorkspace({ files: { 'n.md': 'a\nb\nc\n' } });
  const edit = (old: string) => ws.call('edit_file', { path: 'n.md', edits: [{ old, new: old.toUpperCase() }] });
  const results = await Promise.all([edit('a'), edit('c')]);
  expect(results.map(({ error }) => error?.code)).toEqual([undefined, 'CONFLICT']);
  expect(readFileSync(ws.file('n.md'), 'utf8')).toBe('A\nb\nc\n');
});

test('a file too large to edit is refused with a way out', async () => {
  await using ws = await tempWorkspace();
  writeFileSync(ws.file('h.txt'), Buffer.alloc(65 * 1024 * 1024, 'a'));
  const refused = await ws.call('edit_file', { path: 'h.txt', edits: [{ old: 'NEEDLE', new: 'x' }] });
  expect(refused.error).toMatchObject({ code: 'TOO_LARGE', message: expect.stringContaining('use a command') });
});

test('in a very large file only the exact text counts, and the failure says so and what the file begins with', async () => {
  await using ws = await tempWorkspace({ files: { 'big.txt': `one  two\n${'line of text\n'.repeat(400_000)}last\n` } });
  const edit = (old: string) => ws.call('edit_file', { path: 'big.txt', edits: [{ old, new: 'x' }] });
  const { error } = await edit('  one  two\n');
  expect(error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('find it with grep') });
  expect(error?.message).toContain('closest text is in lines 1');
  expect((await edit('last\n')).ok).toBe(true);
});

test('occurrences that overlap are several', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'xaaay' } });
  const edited = await ws.call('edit_file', { path: 'a.txt', edits: [{ old: 'aa', new: 'b' }] });
  expect(edited.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('2 places') });
  const all = await ws.call('edit_file', { path: 'a.txt', edits: [{ old: 'aa', new: 'b', replaceAll: true }] });
  expect([all.ok, readFileSync(ws.file('a.txt'), 'utf8')]).toEqual([true, 'xbay']);
});

test.each([
  ['CRLF given for a file with LF', 'one\ntwo\n3\n', { old: 'one\r\ntwo\r\n', new: '1\r\n2\r\n' }, '1\n2\n3\n'],
  ['a newline given that the last line has not', 'one\ntwo', { old: 'two\n', new: '2\n' }, 'one\n2'],
  ['a line separator in the new text', '  a\n  b\n', { old: 'a\nb\n', new: 'x\u2028y\nb\n' }, '  x\u2028y\n  b\n'],
])('%s', async (_what, before, edit, after) => {
  await using ws = await tempWorkspace({ files: { 'a.txt': before } });
  const edited = await ws.call('edit_file', { path: 'a.txt', edits: [edit] });
  expect([edited.ok, readFileSync(ws.file('a.txt'), 'utf8')]).toEqual([true, after]);
});

test('the version of a file above 16 MB counts too', async () => {
  await using ws = await tempWorkspace({ files: { 'big.txt': `${'line of text\n'.repeat(1_400_000)}marker\n` } });
  const edits = [{ old: 'marker', new: 'm2' }];
  const version = '0123456789abcdef';
  expect((await ws.call('edit_file', { path: 'big.txt', edits, version })).error?.code).toBe('CONFLICT');
  expect((await ws.call('write_file', { path: 'big.txt', content: 'x', version })).error?.code).toBe('CONFLICT');
  expect((await ws.call('edit_file', { path: 'big.txt', edits })).ok).toBe(true);
  const read = { path: 'big.txt', offset: -1 };
  expect((await ws.call('read_file', read)).value).toMatchObject({ version: null });
  const asked = await ws.call('read_file', { ...read, withVersion: true });
  const known = (asked.value as { version: string }).version;
  expect((await ws.call('write_file', { path: 'big.txt', content: 'x', version: known })).ok).toBe(true);
  expect(readFileSync(ws.file('big.txt'), 'utf8')).toBe('x');
});

test('a great many places, and old texts as large as the file, take no time to speak of', async () => {
  const big = 'a\r\n'.repeat(100_000);
  await using ws = await tempWorkspace({ files: { 'a.txt': big, 'b.txt': big } });
  const edit = (path: string, old: string, replaceAll: boolean) =>
    ws.call('edit_file', { path, edits: [{ old, new: 'b', replaceAll }] });
  expect((await edit('a.txt', 'a', false)).error?.message).toContain('100000 places');
  expect((await edit('a.txt', 'a', true)).ok).toBe(true);
  expect((await edit('b.txt', `${'a\n'.repeat(50_000)}c`, false)).error?.code).toBe('INVALID_INPUT');
  expect((await edit('b.txt', 'a\n'.repeat(100_000), false)).value).toMatchObject({
    edits: [{ strategy: 'line endings', count: 1 }],
  });
  expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('b');
});

test.each([
  ['one line without an end', `${'x'.repeat(49)};`.repeat(100_000), { old: ';', new: ';\n', replaceAll: true }, true],
  ['lines that are all alike', 'a\n'.repeat(1_000_000), { old: `b\n${'a\n'.repeat(20_000)}`, new: 'c' }, false],
  ['the same blanks in each', ' a\n'.repeat(300_000), { old: `${'a\n'.repeat(20_000)}  a`, new: 'c' }, false],
  ['blanks behind each', 'a \n'.repeat(300_000), { old: `a\nb\n${'a\n'.repeat(20_000)}`, new: 'c' }, false],
  ['many words to look for', 'x '.repeat(2_500_000), { old: [...Array(20_000).keys()].join(' '), new: 'c' }, false],
])('much of the same takes no time to speak of: %s', async (_what, before, edit, fits) => {
  const { result, text } = await edited(before, edit);
  expect(result.ok).toBe(fits);
  if (fits) expect(text).toBe(before.replaceAll(';', ';\n'));
  else expect(result.error?.code).toBe('INVALID_INPUT');
});

test('a text longer than a few lines is found wherever it stands, and where it overlaps', async () => {
  const old = 'ab'.repeat(200);
  const overlap = await edited(`x${old}ab\n`, { old, new: 'c' });
  expect(overlap.result.error?.message).toContain('matches 2 places in f.txt, at lines 1, 1');
  expect((await edited(`x${old}ab${old}\n`, { old, new: 'c', replaceAll: true })).text).toBe('xccab\n');
});

test('an edit across line endings leaves what is around it alone in a file that mixes them', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'a\r\nb\nc\r\nd\ne\r\n' } });
  const edited = await ws.call('edit_file', { path: 'a.txt', edits: [{ old: 'b\nc\nd\n', new: 'X\nY\n' }] });
  expect([edited.ok, readFileSync(ws.file('a.txt'), 'utf8')]).toEqual([true, 'a\r\nX\nY\ne\r\n']);
});

test('a file that changes while a person is asked is not edited: they saw another change', async () => {
  const approver = () => {
    writeFileSync(ws.file('f.txt'), 'new first line\na\n');
    return { approved: true };
  };
  await using ws = await tempWorkspace({ files: { 'f.txt': 'a\n' }, options: { approver } });
  const result = await ws.call('edit_file', { path: 'f.txt', edits: [{ old: 'a\n', new: 'b\n' }] });
  expect(readFileSync(ws.file('f.txt'), 'utf8')).toBe('new first line\na\n');
  expect(result.error).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('has changed since'),
  });
});
