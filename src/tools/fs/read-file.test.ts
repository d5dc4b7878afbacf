import { appendFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

const DATA = '{"changes": [1, 2, 3]}\n';
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('[A06][D01][E02] reads a file of the workspace by its relative path as plain text, complete', async () => {
  await using ws = await tempWorkspace({ files: { 'data/mock_gerrit_data.json': DATA, 'src/index.ts': lines(2000) } });

  const read = await ws.call('read_file', { path: 'data/mock_gerrit_data.json' });

  expect(read.text).toBe(DATA);
  expect(read.value).toMatchObject({ content: DATA, size: 23, version: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(read.value).toHaveProperty('modified', expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/));
  expect((await ws.call('read_file', { path: 'src/index.ts' })).text).toBe(lines(2000));
});

test('[E02] encoding base64 gives the bytes of any file', async () => {
  await using ws = await tempWorkspace({ files: { 'a.bin': new Uint8Array([0, 255, 1]) } });
  const read = await ws.call('read_file', { path: 'a.bin', encoding: 'base64' });
  expect(read.value).toMatchObject({ content: 'AP8B', size: 3, encoding: 'base64' });
});

test('[A07][D02] a file that does not exist is an error that says so, and how to go on', async () => {
  await using ws = await tempWorkspace();
  const read = await ws.call('read_file', { path: 'src/missing.ts' });
  expect(read.error).toMatchObject({ code: 'FILE_NOT_FOUND', message: expect.stringContaining('File not found') });
  expect(read.text).toContain('create it with write_file');
  const written = await ws.call('write_file', { path: 'src/missing.ts', content: 'x' });
  expect(written.ok).toBe(true);
  expect((await ws.call('read_file', { path: 'src/missing.ts' })).text).toBe('x');
});

test('[C03] a missing file is answered with up to five likely paths from the whole tree, same name first', async () => {
  const files = { 'lib/deep/util.ts': '', 'src/utils.ts': '', 'src/other.md': '', 'a/util.ts': '', 'b/util.ts': '' };
  await using ws = await tempWorkspace({ files });
  const read = await ws.call('read_file', { path: 'src/util.ts' });
  const suggestions = read.error?.details?.suggestions as string[];
  expect(suggestions.slice(0, 3).sort()).toEqual(['a/util.ts', 'b/util.ts', 'lib/deep/util.ts']);
  expect(suggestions).toContain('src/utils.ts');
  expect(suggestions.length).toBeLessThanOrEqual(5);
  expect(read.text).toContain('Did you mean');
});

test('of many files with one similar name, the one in the folder that was meant comes first', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d${at}/f1.txt`, '']));
  await using ws = await tempWorkspace({ files });
  const read = await ws.call('read_file', { path: 'd17/f1.tx' });
  expect(read.error?.details).toMatchObject({ suggestions: expect.arrayContaining(['d17/f1.txt']) });
  expect(read.text).toContain('Did you mean d17/f1.txt');
});

test('[A08][D03] absolute paths outside, ".." and links that lead out are refused, and nothing is read', async () => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok' } });
  writeFileSync(`${ws.outside}/secret.txt`, 'CANARY');
  symlinkSync(`${ws.outside}/secret.txt`, ws.file('leak'));
  symlinkSync(ws.outside, ws.file('folder'));
  for (const path of ['/etc/passwd', '../out/secret.txt', 'leak', 'folder/secret.txt', `${ws.root}-evil/x`, '~/x']) {
    const read = await ws.call('read_file', { path });
    expect(read.error, path).toMatchObject({ code: 'INVALID_PATH', message: expect.stringContaining('Access denied') });
    expect(JSON.stringify(read)).not.toContain('CANARY');
  }
  expect((await ws.call('read_file', { path: `${ws.root}/ok.txt` })).text).toBe('ok');
});

test('[D15] any ".." segment is refused, and the message gives the plain path', async () => {
  await using ws = await tempWorkspace({ files: { 'ok.txt': 'ok', '..foo/a..b.txt': 'fine' } });
  for (const [tool, args] of [
    ['read_file', { path: 'src/../ok.txt' }],
    ['write_file', { path: 'src/../ok.txt', content: 'x' }],
    ['edit_file', { path: 'src/../ok.txt', edits: [{ old: 'ok', new: 'x' }] }],
    ['delete_file', { path: 'src/../ok.txt' }],
    ['move_file', { from: 'ok.txt', to: 'src/../b.txt' }],
    ['list_directory', { path: 'src/..' }],
    ['glob', { pattern: '*', path: 'src/..' }],
    ['grep', { pattern: 'x', path: 'src/..' }],
  ] as const) {
    const refused = await ws.call(tool, args);
    expect(refused.error, tool).toMatchObject({ code: 'INVALID_PATH' });
  }
  expect((await ws.call('read_file', { path: 'src/../ok.txt' })).text).toContain('Write ok.txt instead');
  expect((await ws.call('read_file', { path: '..foo/a..b.txt' })).text).toBe('fine');
});

test('[C01] a long file gives 2,000 lines and names the next call', async () => {
  await using ws = await tempWorkspace({ files: { 'long.txt': lines(2500) } });
  const read = await ws.call('read_file', { path: 'long.txt' });
  expect(read.text).toBe(`${lines(2000)}[Lines 1-2000 of 2500. Continue with offset=2001.]`);
  const rest = await ws.call('read_file', { path: 'long.txt', offset: 2001 });
  expect(rest.text).toContain('line 2500\n[Lines 2001-2500 of 2500');
});

test('[C02] offset and limit give exactly those lines', async () => {
  await using ws = await tempWorkspace({ files: { 'a.py': lines(100) } });
  const read = await ws.call('read_file', { path: 'a.py', offset: 10, limit: 41 });
  expect(read.value).toMatchObject({ firstLine: 10, lines: 41, totalLines: 100 });
  expect((read.value as { content: string }).content.split('\n').slice(0, 2)).toEqual(['line 10', 'line 11']);
  expect((read.value as { content: string }).content.endsWith('line 50\n')).toBe(true);
  const tail = await ws.call('read_file', { path: 'a.py', offset: -2 });
  expect(tail.value).toMatchObject({ content: 'line 99\nline 100\n', firstLine: 99 });
  const past = await ws.call('read_file', { path: 'a.py', offset: 101 });
  expect(past.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('up to 100') });
});

test('long lines and large windows are cut, and say so', async () => {
  await using ws = await tempWorkspace({
    files: { 'min.js': `${'x'.repeat(5000)}\nshort\n`, 'wide.txt': `${'y'.repeat(1000)}\n`.repeat(200) },
  });
  const read = await ws.call('read_file', { path: 'min.js' });
  expect(read.text).toContain('[line of 5000 characters, cut]\nshort\n');
  const wide = await ws.call('read_file', { path: 'wide.txt' });
  expect((wide.value as { lines: number }).lines).toBe(52);
  expect(wide.text).toContain('Continue with offset=53');
});

test('a window of a file above 16 MB is read without counting it, from either end', async () => {
  await using ws = await tempWorkspace();
  for (let part = 0; part < 20; part++) appendFileSync(ws.file('big.log'), `${'z'.repeat(99)}\n`.repeat(10_000));
  appendFileSync(ws.file('big.log'), 'last but one\nlast\n');
  const head = await ws.call('read_file', { path: 'big.log', offset: 5, limit: 2 });
  expect(head.value).toMatchObject({ firstLine: 5, lines: 2, totalLines: null, version: null });
  const tail = await ws.call('read_file', { path: 'big.log', offset: -2 });
  expect(tail.value).toMatchObject({ content: 'last but one\nlast\n', firstLine: -2, lines: 2 });
  const past = await ws.call('read_file', { path: 'big.log', offset: 300_000 });
  expect(past.error?.message).toContain('200002 lines');
});

test('a huge sparse file is told from its beginning', async () => {
  await using ws = await tempWorkspace({ files: { 'big.img': '' } });
  truncateSync(ws.file('big.img'), 2 ** 40);
  const read = await ws.call('read_file', { path: 'big.img' });
  expect(read.text).toContain('Binary file');
});

test('a binary file is named as one, an image comes as an image, a folder as its listing', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await using ws = await tempWorkspace({ files: { 'a.bin': new Uint8Array([1, 0, 2]), 'p.png': png, 'd/x.txt': 'x' } });
  const binary = await ws.call('read_file', { path: 'a.bin' });
  expect(binary.value).toMatchObject({ content: '', encoding: 'binary' });
  expect(binary.text).toContain('3 bytes');
  const echoed = await ws.call('write_file', { path: 'a.bin', content: binary.text });
  expect(echoed.error).toMatchObject({ code: 'INVALID_INPUT' });
  const image = await ws.call('read_file', { path: 'p.png' });
  expect(image.value).toMatchObject({ image: { mimeType: 'image/png', data: png.toString('base64') } });
  expect((await ws.call('read_file', { path: 'd' })).text).toContain('x.txt');
});

test.each([
  ['gb18030', '你好，世界。这是一个用于测试的文本文件，包含足够多的汉字。\n第二行内容也是中文。\n', 'c4e3bac3'],
  ['shift_jis', 'こんにちは、世界。これはテスト用のテキストファイルです。\n二行目です。\n', '82b182f1'],
  ['utf-16le', 'wide text\n', 'fffe7700'],
])('text in %s is shown as text', async (encoding, text, start) => {
  const { default: iconv } = await import('iconv-lite');
  const bytes = iconv.encode(text, encoding, { addBOM: encoding.startsWith('utf-16') });
  expect(bytes.toString('hex').startsWith(start)).toBe(true);
  await using ws = await tempWorkspace({ files: { 'a.txt': bytes } });
  const read = await ws.call('read_file', { path: 'a.txt' });
  expect(read.value).toMatchObject({ content: text, encoding });
});

test('UTF-8 with broken bytes is refused with a hint instead of garbled', async () => {
  const broken = Buffer.concat([Buffer.from('grüße überall, schöne Wörter\n'), Buffer.from([0xff, 0xfe, 0x0a])]);
  await using ws = await tempWorkspace({ files: { 'a.txt': broken } });
  const read = await ws.call('read_file', { path: 'a.txt' });
  expect(read.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('base64') });
});

test.each(['.env', 'config/.env.production', 'deploy/id_ed25519', '.git-credentials', '.aws/credentials', 'alias'])(
  '[D17] the sensitive file %s is refused by every file tool, by identity',
  async (path) => {
    const files = { '.env': 'K=CANARY', 'config/.env.production': 'CANARY', 'deploy/id_ed25519': 'CANARY' };
    const more = { '.git-credentials': 'CANARY', '.aws/credentials': 'CANARY', 'ok.txt': 'ok', '.env.example': 'K=' };
    await using ws = await tempWorkspace({ files: { ...files, ...more } });
    symlinkSync('.env', ws.file('alias'));
    const calls = [
      ['read_file', { path }],
      ['read_file', { path, encoding: 'base64' }],
      ['write_file', { path, content: 'x' }],
      ['edit_file', { path, edits: [{ old: 'CANARY', new: 'x' }] }],
      ['apply_patch', { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-CANARY\n+x\n` }],
      ...(path === 'alias'
        ? []
        : [['delete_file', { path }] as const, ['move_file', { from: path, to: 'n.txt' }] as const]),
    ] as const;
    for (const [tool, args] of calls) {
      const refused = await ws.call(tool, args);
      expect(refused.error, tool).toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(JSON.stringify(refused), tool).not.toContain('K=CANARY');
    }
    expect((await ws.call('read_file', { path: '.env.example' })).text).toBe('K=');
    expect(ws.asked).toEqual([]);
  },
);

test('[D17] a file called credentials is refused, a folder of that name is an ordinary one', async () => {
  await using ws = await tempWorkspace({
    files: { credentials: 'user ana CANARY', 'src/credentials/a.ts': 'export {}' },
  });
  const refused = await ws.call('read_file', { path: 'credentials' });
  expect(refused.error).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(JSON.stringify([refused, await ws.call('grep', { pattern: 'ana' })])).not.toContain('CANARY');
  expect((await ws.call('read_file', { path: 'src/credentials/a.ts' })).ok).toBe(true);
  expect((await ws.call('list_directory', { path: 'src/credentials' })).text).toContain('a.ts');
  expect((await ws.call('glob', { pattern: '**/*.ts' })).text).toContain('src/credentials/a.ts');
});

test('[D17] of a name that is often harmless the content decides: a certificate is read, a key beside it is not', async () => {
  const block = (kind: string) =>
    `-----BEGIN ${kind}-----\n${'MIIBszCCAVmgAwIBAgIU7k2Q'.repeat(4)}\n-----END ${kind}-----\n`;
  const open = {
    'certs/server.pem': `subject=CN = example.org\n${block('CERTIFICATE')}`,
    'certs/peer.key': block('PUBLIC KEY'),
    '.env.test': '# for the tests\nNODE_ENV=test\nPORT=3001\nDB_PASSWORD=changeme\nURL=http://127.0.0.1:3001/a\n',
  };
  const secret = {
    'tls.pem': block('CERTIFICATE') + block('RSA PRIVATE KEY'),
    'raw.key': 'a7Gq0Zk3Lx9Vt2Rb\n',
    'more.pem': `${block('CERTIFICATE')}a7Gq0Zk3Lx9Vt2Rb\n`,
    'api/.env.test': 'API_TOKEN=one-two-three4\n',
    '.env.ci': 'STRANGE=a7Gq0Zk3Lx9Vt2Rb\n',
    '.env.local': 'PORT=3000\n',
  };
  await using ws = await tempWorkspace({ files: { ...open, ...secret } });
  for (const [path, content] of Object.entries(open)) {
    expect((await ws.call('read_file', { path })).value, path).toMatchObject({ content });
  }
  for (const path of [...Object.keys(secret), 'not-there.pem']) {
    expect((await ws.call('read_file', { path })).ok, path).toBe(false);
  }
  expect((await ws.call('write_file', { path: 'new.pem', content: 'x' })).error?.code).toBe('PERMISSION_DENIED');
  writeFileSync(ws.file('.env.test'), 'API_TOKEN=one-two-three4\n');
  expect((await ws.call('read_file', { path: '.env.test' })).error?.code).toBe('PERMISSION_DENIED');
});

test('[D17] search finds nothing in sensitive files, and listing names them only', async () => {
  await using ws = await tempWorkspace({ files: { '.env': 'API_KEY=CANARY', 'a.txt': 'API_KEY in words' } });
  const found = await ws.call('grep', { pattern: 'API_KEY', includeHidden: true });
  expect(found.text).toContain('a.txt:1: API_KEY in words');
  expect(JSON.stringify(found)).not.toContain('CANARY');
  expect((await ws.call('list_directory', { path: '.', includeHidden: true })).text).toContain('.env');
});

test("git's configuration is withheld where it holds a credential, under every name", async () => {
  const remote = (user: string) => `[remote "origin"]\n\turl = https://${user}@host.org/a.git\n`;
  await using ws = await tempWorkspace({
    files: { '.git/config': remote('ana:CANARY'), 'sub/.git/config': remote('ana'), 'docs.md': remote('ana:PASSWORD') },
  });
  symlinkSync('.git/config', ws.file('notes.txt'));
  for (const path of ['.git/config', 'notes.txt']) {
    for (const encoding of ['utf-8', 'base64']) {
      const read = await ws.call('read_file', { path, encoding });
      expect(read.error).toMatchObject({ code: 'PERMISSION_DENIED', message: expect.stringContaining('credential') });
      expect(JSON.stringify(read)).not.toContain('CANARY');
    }
  }
  for (const path of ['sub/.git/config', 'docs.md']) expect((await ws.call('read_file', { path })).ok).toBe(true);
});

test('key material in a file with an innocent name is withheld', async () => {
  const key = '-----BEGIN RSA PRIVATE KEY-----\nCANARYCANARYCANARY\n-----END RSA PRIVATE KEY-----\n';
  await using ws = await tempWorkspace({
    files: { 'notes.txt': key, 'doc.md': 'A key starts with -----BEGIN PRIVATE KEY-----, then…' },
  });
  expect((await ws.call('read_file', { path: 'notes.txt' })).error?.code).toBe('PERMISSION_DENIED');
  expect(JSON.stringify(await ws.call('grep', { pattern: 'CANARY' }))).not.toContain('CANARYCANARY');
  expect((await ws.call('read_file', { path: 'doc.md' })).ok).toBe(true);
});

test('a token, a key in JSON and a connection string are withheld by content, and a user can say that a file holds none', async () => {
  const body = 'q7Tz9bLw2Kd3'.repeat(4);
  const key = JSON.stringify({ private_key: `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n` });
  const token = `use ghp_${body.slice(0, 36)}`;
  await using ws = await tempWorkspace({
    files: { 'project-1a.json': key, 'notes.md': token, 'db.yml': `url: mysql://app:${body}@db/a`, 'mine.md': token },
    filePolicy: createFilePolicy([], ['mine.md', 'project-1a.json']),
  });
  for (const path of ['project-1a.json', 'notes.md', 'db.yml']) {
    for (const encoding of ['utf-8', 'base64']) {
      const read = await ws.call('read_file', { path, encoding });
      expect(read.error, path).toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(JSON.stringify(read)).not.toContain(body.slice(0, 12));
    }
  }
  expect((await ws.call('read_file', { path: 'mine.md' })).text).toBe(token);
  expect((await ws.call('grep', { pattern: 'q7Tz', output: 'files' })).value).toMatchObject({ totalFiles: 1 });
});

test('in a file above 16 MB a window with a part of a secret is withheld, and any other is shown', async () => {
  await using ws = await tempWorkspace();
  const lines = Array.from({ length: 30 }, () => 'q7Tz9bLw2Kd3'.repeat(5)).join('\n');
  appendFileSync(
    ws.file('big.log'),
    `-----BEGIN RSA PRIVATE KEY-----\n${lines}\n-----END RSA PRIVATE KEY-----\nplain\n`,
  );
  for (let part = 0; part < 17; part++) appendFileSync(ws.file('big.log'), `${'z'.repeat(99)}\n`.repeat(10_000));
  for (const window of [{ offset: 1 }, { offset: 12, limit: 2 }]) {
    expect((await ws.call('read_file', { path: 'big.log', ...window })).error?.code).toBe('PERMISSION_DENIED');
  }
  expect((await ws.call('read_file', { path: 'big.log', offset: 33, limit: 1 })).text).toContain('plain');
  expect((await ws.call('read_file', { path: 'big.log', offset: -2 })).ok).toBe(true);
});
