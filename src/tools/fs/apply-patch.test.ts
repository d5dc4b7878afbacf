import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

const BLOCKS = `*** Begin Patch
*** Add File: new/a.txt
+first
+second
*** Update File: old.txt
@@
 one
-two
+TWO
*** Update File: tool.sh
*** Move to: bin/tool.sh
@@
-echo old
+echo new
*** Delete File: gone.txt
*** End Patch
`;

test('[A10] "Begin Patch" blocks add, change, move and delete files, with one question and one undo', async () => {
  const files = { 'old.txt': 'one\r\ntwo\r\n', 'gone.txt': 'x', 'tool.sh': '#!/bin/sh\necho old\n' };
  await using ws = await tempWorkspace({ files });
  chmodSync(ws.file('tool.sh'), 0o755);
  const done = await ws.call('apply_patch', { patch: BLOCKS });
  expect(done.value).toMatchObject({
    files: [
      { path: 'new/a.txt', change: 'added' },
      { path: 'old.txt', change: 'updated' },
      { path: 'bin/tool.sh', change: 'moved' },
      { path: 'gone.txt', change: 'deleted' },
    ],
  });
  expect(readFileSync(ws.file('new/a.txt'), 'utf8')).toBe('first\nsecond\n');
  expect(readFileSync(ws.file('old.txt'), 'utf8')).toBe('one\r\nTWO\r\n');
  expect(readFileSync(ws.file('bin/tool.sh'), 'utf8')).toBe('#!/bin/sh\necho new\n');
  expect(statSync(ws.file('bin/tool.sh')).mode & 0o777).toBe(0o755);
  expect([existsSync(ws.file('gone.txt')), existsSync(ws.file('tool.sh'))]).toEqual([false, false]);
  expect(ws.asked.length).toBe(1);

  expect((await ws.workspace.undo(done.callId as string)).ok).toBe(true);
  for (const [path, content] of Object.entries(files)) expect(readFileSync(ws.file(path), 'utf8'), path).toBe(content);
  expect([existsSync(ws.file('new')), existsSync(ws.file('bin'))]).toEqual([false, false]);
});

test('a unified diff with git headers is applied, also where lines have moved', async () => {
  const before = 'zero\none\ntwo\nthree\nfour\nfive';
  await using ws = await tempWorkspace({ files: { 'src/a.ts': `// new head\n${before}`, 'b.txt': 'x\n' } });
  const patch = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -2,3 +2,3 @@ zero
 one
-two
+2
 three
@@ -6 +6 @@
-five
\\ No newline at end of file
+5
--- /dev/null
+++ b/c.txt
@@ -0,0 +1,2 @@
+new
+file
\\ No newline at end of file
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
`;
  const done = await ws.call('apply_patch', { patch });
  expect(done.text).not.toContain('Error');
  expect(readFileSync(ws.file('src/a.ts'), 'utf8')).toBe('// new head\nzero\none\n2\nthree\nfour\n5\n');
  expect(readFileSync(ws.file('c.txt'), 'utf8')).toBe('new\nfile');
  expect(existsSync(ws.file('b.txt'))).toBe(false);
});

test('validates all, then applies all or none', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n', 'b.txt': 'two\n' } });
  const patch = (second: string) =>
    `*** Begin Patch\n*** Update File: a.txt\n-one\n+ONE\n*** Update File: b.txt\n-${second}\n+x\n*** Add File: c.txt\n+c\n*** End Patch`;
  const failed = await ws.call('apply_patch', { patch: patch('nothing like it') });
  expect(failed.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('b.txt') });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n');
  writeFileSync(ws.file('c.txt'), 'in the way');
  expect((await ws.call('apply_patch', { patch: patch('two') })).error?.code).toBe('CONFLICT');
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n');
});

test('lines that stand at several places are refused until there is context', async () => {
  await using ws = await tempWorkspace({ files: { 'a.py': 'def f():\n  pass\n\ndef g():\n  pass\n' } });
  const patch = (head: string) =>
    `*** Begin Patch\n*** Update File: a.py\n${head}\n-  pass\n+  return 1\n*** End Patch`;
  const failed = await ws.call('apply_patch', { patch: patch('@@') });
  expect(failed.error?.message).toContain('2 places (lines 2, 5)');
  expect((await ws.call('apply_patch', { patch: patch('@@ def g():') })).ok).toBe(true);
  expect(readFileSync(ws.file('a.py'), 'utf8')).toBe('def f():\n  pass\n\ndef g():\n  return 1\n');
});

test('every path in a header passes the same check', async () => {
  await using ws = await tempWorkspace();
  writeFileSync(`${ws.outside}/secret.txt`, 'CANARY-OUT\n');
  const patch = '--- a/../out/secret.txt\n+++ b/../out/secret.txt\n@@ -1 +1 @@\n-CANARY-OUT\n+OWNED\n';
  expect((await ws.call('apply_patch', { patch })).error).toMatchObject({ code: 'INVALID_PATH' });
  expect(readFileSync(`${ws.outside}/secret.txt`, 'utf8')).toBe('CANARY-OUT\n');
});

test.each([
  ['no file', 'hello'],
  ['no end', '*** Begin Patch\n*** Delete File: a'],
  ['a stray line', '*** Begin Patch\nhello\n*** End Patch'],
])('a patch with %s is refused with the line', async (_what, patch) => {
  await using ws = await tempWorkspace();
  expect((await ws.call('apply_patch', { patch })).error?.message).toMatch(/at line \d/);
});

test('a file without a final newline gets none, unless the patch speaks of it', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\ntwo' } });
  await ws.call('apply_patch', { patch: '*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch\n' });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n2');
  const head = '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n';
  await ws.call('apply_patch', { patch: `${head}-2\n\\ No newline at end of file\n+3\n` });
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n3\n');
});

test('lines above a hunk are found one below the other, and one that is missing fails it', async () => {
  const method = '  def run(self):\n    x = 1\n';
  await using ws = await tempWorkspace({ files: { 'a.py': `class A:\n${method}class B:\n${method}` } });
  const patch = (anchors: string) =>
    `*** Begin Patch\n*** Update File: a.py\n${anchors}-    x = 1\n+    x = 2\n*** End Patch\n`;
  const missing = await ws.call('apply_patch', { patch: patch('@@ class C:\n') });
  expect(missing.error?.message).toContain('the line "class C:" was not found');
  expect((await ws.call('apply_patch', { patch: patch('@@ class B:\n@@   def run(self):\n') })).ok).toBe(true);
  expect(readFileSync(ws.file('a.py'), 'utf8')).toBe(`class A:\n${method}class B:\n${method.replace('1', '2')}`);
});

test('what git writes: empty files, modes, quoted names, a mail with its signature', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n', 'e.txt': '', 'é.txt': 'x\n', 'd.txt': '-- a\n' } });
  const patch = `From 1234 Mon Sep 17 00:00:00 2001
Subject: [PATCH] some
---
 a.txt | 2 +-

diff --git a/new.txt b/new.txt
new file mode 100644
index 0000000..e69de29
diff --git a/e.txt b/e.txt
deleted file mode 100644
index e69de29..0000000
diff --git a/s.sh b/s.sh
new file mode 100755
--- /dev/null
+++ b/s.sh
@@ -0,0 +1 @@
+#!/bin/sh
diff --git "a/\\303\\251.txt" "b/\\303\\251.txt"
--- "a/\\303\\251.txt"
+++ "b/\\303\\251.txt"
@@ -1 +1 @@
-x
+y
diff --git a/d.txt b/d.txt
--- a/d.txt
+++ b/d.txt
@@ -1 +1 @@
--- a
+++ b

diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+two
--${' '}
2.39.5

`;
  expect(await ws.call('apply_patch', { patch })).toMatchObject({ ok: true });
  const contents = ['new.txt', 's.sh', 'é.txt', 'd.txt', 'a.txt'].map((path) => readFileSync(ws.file(path), 'utf8'));
  expect(contents).toEqual(['', '#!/bin/sh\n', 'y\n', '++ b\n', 'two\n']);
  expect([statSync(ws.file('s.sh')).mode & 0o111, existsSync(ws.file('e.txt'))]).toEqual([0o111, false]);
});

test.each([
  ['a binary file', 'Binary files a/b and b/b differ\n', /binary file/],
  ['a mode', 'old mode 100644\nnew mode 100755\n', /chmod/],
  ['a copy', 'copy from a.txt\ncopy to c.txt\n', /copies a file/],
  ['a link', 'new file mode 120000\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+/etc\n', /link/],
])('%s in a patch fails all of it', async (_what, section, message) => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\n' } });
  const patch = `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\ndiff --git a/b b/b\n${section}`;
  expect((await ws.call('apply_patch', { patch })).error?.message).toMatch(message);
  expect(readFileSync(ws.file('a.txt'), 'utf8')).toBe('one\n');
});

test('a diff deletes only what it shows', async () => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'one\ntwo\n' } });
  const patch = (lines: string) => `--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n${lines}`;
  expect((await ws.call('apply_patch', { patch: patch('-one\n') })).error?.message).toContain('has more content');
  expect((await ws.call('apply_patch', { patch: patch('-one\n-zwei\n') })).ok).toBe(false);
  expect((await ws.call('apply_patch', { patch: patch('-one\n-two\n') })).ok).toBe(true);
  expect(existsSync(ws.file('a.txt'))).toBe(false);
});

test('a hunk at the end of a very long file fits', async () => {
  await using ws = await tempWorkspace({ files: { 'long.txt': `${'x\n'.repeat(300_000)}last\n` } });
  const patch = '--- a/long.txt\n+++ b/long.txt\n@@ -300001 +300001 @@\n-last\n+end\n';
  expect((await ws.call('apply_patch', { patch })).ok).toBe(true);
  expect(readFileSync(ws.file('long.txt'), 'utf8').endsWith('x\nend\n')).toBe(true);
});

test.each([
  ['a long hunk', `@@\n${' a\n'.repeat(20_000)}-b\n`, 'no line reads "b"'],
  ['a long hunk that stands at many places', `@@\n${' a\n'.repeat(20_000)}-a\n`, 'matches 980000 places'],
])('lines that are all alike take no time to speak of: %s', async (_what, hunks, message) => {
  await using ws = await tempWorkspace({ files: { 'a.txt': 'a\n'.repeat(1_000_000) } });
  const patch = `*** Begin Patch\n*** Update File: a.txt\n${hunks}*** End Patch\n`;
  expect((await ws.call('apply_patch', { patch })).error?.message).toContain(message);
});

test('more hunks than can be looked for in a long file are refused with a way out', async () => {
  const lines = Array.from({ length: 200_000 }, (_, line) => `line ${line}\n`);
  await using ws = await tempWorkspace({ files: { 'a.txt': lines.join('') } });
  const hunks = lines.slice(0, 300).map((line) => `@@\n-${line}+new ${line}`);
  const patch = (some: readonly string[]) => `*** Begin Patch\n*** Update File: a.txt\n${some.join('')}*** End Patch\n`;
  expect((await ws.call('apply_patch', { patch: patch(hunks) })).error?.message).toContain('give line numbers');
  expect((await ws.call('apply_patch', { patch: patch(hunks.slice(0, 50)) })).ok).toBe(true);
});
