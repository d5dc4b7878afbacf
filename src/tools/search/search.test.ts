import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, describe, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import type { Sandbox } from '../../kernel/world/sandbox.ts';
import { createBubblewrap } from '../../sandbox/bubblewrap/bubblewrap.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { ripgrepFolder } from '../../workspace/search/ripgrep.ts';

const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'search-sandbox-')));
const bubblewrap = createBubblewrap({
  filePolicy: createFilePolicy(),
  path: process.env['PATH'] ?? '',
  home: process.env['HOME'] ?? '/root',
  stateDir,
  readOnlyFolders: [await ripgrepFolder()],
});

afterAll(async () => {
  await bubblewrap.close();
  rmSync(stateDir, { recursive: true, force: true });
});

const FILES = {
  'app/main.py': 'import os\n\ndef function_name(a):\n    return a\n',
  'app/util.py': 'def helper():\n    function_name(1)\n',
  'app/main.ts': 'function_name();\n',
  'docs/readme.md': 'Function_Name in words\n',
  '.gitignore': 'build\n*.log\n',
  'build/out.py': 'def function_name(): pass\n',
  'x.log': 'function_name\n',
  '.hidden/h.py': 'function_name\n',
  '.env': 'function_name=CANARY\n',
};

/** Oldest first. */
const AGES = ['docs/readme.md', 'app/main.py', 'app/main.ts', 'app/util.py'];

async function prepared(sandbox: typeof bubblewrap | undefined) {
  const ws = await tempWorkspace({ files: FILES, ...(sandbox && { sandbox }) });
  for (const [index, path] of AGES.entries()) utimesSync(ws.file(path), 1_700_000_000, 1_700_000_000 + index * 60);
  return ws;
}

const text = async (ws: Awaited<ReturnType<typeof prepared>>, tool: string, args: Record<string, unknown>) =>
  (await ws.call(tool, args)).text;

describe.each([
  ['in the sandbox', bubblewrap],
  ['on the host', undefined],
] as const)('search %s', (_where, sandbox) => {
  test('[C04] glob finds files by extension, without what .gitignore names, which it counts', async () => {
    await using ws = await prepared(sandbox);
    expect(await text(ws, 'glob', { pattern: '**/*.py' })).toBe(
      'app/util.py\napp/main.py\n[2 ignored entries were skipped; includeIgnored searches them.]',
    );
    expect(await text(ws, 'glob', { pattern: '*.py', includeIgnored: true })).toContain('build/out.py');
    expect(await text(ws, 'glob', { pattern: '*.rs' })).toContain('No files found.');
    expect(await text(ws, 'glob', { pattern: '*.py', includeHidden: true })).toContain('.hidden/h.py');
  });

  test('[C05] glob searches below a given folder', async () => {
    await using ws = await prepared(sandbox);
    const found = await ws.call('glob', { pattern: '**/*', path: 'app' });
    expect((found.value as { paths: string[] }).paths).toEqual(['app/util.py', 'app/main.ts', 'app/main.py']);
    expect((await ws.call('glob', { pattern: '*', path: 'nope' })).error).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('[C06] glob gives the newest file first', async () => {
    await using ws = await prepared(sandbox);
    const found = await ws.call('glob', { pattern: '*.{py,ts,md}', limit: 3 });
    expect(found.value).toMatchObject({ paths: AGES.toReversed().slice(0, 3), total: 4 });
    expect(found.text).toContain('3 of 4 files');
  });

  test('[C07] grep finds a definition with path and line', async () => {
    await using ws = await prepared(sandbox);
    const found = await ws.call('grep', { pattern: 'def function_name' });
    expect(found.value).toMatchObject({ lines: [{ path: 'app/main.py', line: 3, text: 'def function_name(a):' }] });
  });

  test('[C08] grep looks only at files that match include, and not at those of exclude', async () => {
    await using ws = await prepared(sandbox);
    const found = await ws.call('grep', { pattern: 'function_name', include: '*.py' });
    expect((found.value as { files: { path: string }[] }).files.map(({ path }) => path)).toEqual([
      'app/util.py',
      'app/main.py',
    ]);
    const fewer = await ws.call('grep', { pattern: 'function_name', include: ['*.py', '*.ts'], exclude: 'util*' });
    expect((fewer.value as { files: { path: string }[] }).files.map(({ path }) => path)).toEqual([
      'app/main.ts',
      'app/main.py',
    ]);
  });

  test('[C09] grep answers path:line: text, newest file first', async () => {
    await using ws = await prepared(sandbox);
    expect(await text(ws, 'grep', { pattern: 'function_name' })).toBe(
      [
        'app/util.py:2:     function_name(1)',
        'app/main.ts:1: function_name();',
        'app/main.py:3: def function_name(a):',
        'docs/readme.md:1: Function_Name in words',
        '[2 ignored entries were skipped; includeIgnored searches them.]',
      ].join('\n'),
    );
  });

  test('case, literal text, multiline, context and output modes', async () => {
    await using ws = await prepared(sandbox);
    expect(await text(ws, 'grep', { pattern: 'Function_Name' })).not.toContain('main');
    expect(await text(ws, 'grep', { pattern: 'function_name', caseSensitive: true })).not.toContain('readme');
    expect(await text(ws, 'grep', { pattern: 'name(a)', literal: true })).toContain('app/main.py:3:');
    expect(await text(ws, 'grep', { pattern: 'os\\n\\ndef', multiline: true })).toContain('app/main.py:1: import os');
    expect(await text(ws, 'grep', { pattern: 'helper', context: 1 })).toContain('app/util.py-2-     function_name(1)');
    expect(await text(ws, 'grep', { pattern: 'function_name', output: 'files' })).toMatch(
      /^app\/util.py\napp\/main.ts\n/,
    );
    expect(await text(ws, 'grep', { pattern: 'function_name', output: 'count' })).toMatch(/^app\/util.py:1\n/);
    expect(await text(ws, 'grep', { pattern: 'function_name', limit: 1 })).toContain('there are 4 matches in 4 files');
  });

  test('a pattern is never an option, and one that is none is explained', async () => {
    await using ws = await prepared(sandbox);
    for (const pattern of ['--pre=touch PWNED', '-f/etc/passwd', '--files', '-e']) {
      expect(await text(ws, 'grep', { pattern }), pattern).toContain('No matches found.');
    }
    expect((await ws.call('grep', { pattern: '(a+' })).error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('unclosed group'),
    });
    for (const args of [{ pattern: 'a\0b' }, { pattern: 'a', include: 'x\0' }]) {
      expect((await ws.call('grep', args)).error?.code).toBe('INVALID_INPUT');
    }
    expect((await ws.call('glob', { pattern: '{a' })).error?.code).toBe('INVALID_INPUT');
    expect((await ws.call('glob', { pattern: '../*' })).error?.code).toBe('INVALID_INPUT');
  });

  test('links are not followed, pipes not waited for, sensitive files not searched', async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(`${ws.outside}/s.txt`, 'function_name OUTSIDE');
    symlinkSync(ws.outside, ws.file('link'));
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [ws.file('pipe')]);
    const found = JSON.stringify(
      await ws.call('grep', { pattern: 'function_name', includeHidden: true, includeIgnored: true }),
    );
    expect(found).not.toContain('OUTSIDE');
    expect(found).not.toContain('CANARY');
    expect(found).toContain('x.log');
    expect(JSON.stringify(await ws.call('grep', { pattern: 'CANARY', path: '.env' }))).not.toContain('=CANARY');
    expect((await ws.call('grep', { pattern: 'x', path: 'link' })).error?.code).toBe('INVALID_PATH');
  });

  test('glob names a sensitive file, tells nothing of what is in it, and looks into no sensitive folder', async () => {
    await using ws = await prepared(sandbox);
    mkdirSync(ws.file('.ssh'));
    writeFileSync(ws.file('.ssh/config-of-a-friend'), 'Host CANARY');
    // ripgrep reads this file as ignore rules; none of it may come out.
    symlinkSync('../.env', ws.file('app/.gitignore'));
    const found = JSON.stringify(await ws.call('glob', { pattern: '**/*', includeHidden: true, includeIgnored: true }));
    expect(found).toContain('.env');
    expect(found).not.toContain('friend');
    const ignored = JSON.stringify(await ws.call('glob', { pattern: '**/*', includeHidden: true }));
    expect(found + ignored).not.toContain('CANARY');
    // An ignored guess would confirm the guess.
    writeFileSync(ws.file('app/function_name=CANARY'), 'guessed');
    expect(JSON.stringify(await ws.call('glob', { pattern: 'app/*', includeHidden: true }))).toContain('=CANARY');
  });

  test.each([
    ['a link to a sensitive file', '.ignore', (to: string) => symlinkSync('../.env', to)],
    ['another name of one', '.rgignore', (to: string, ws: string) => linkSync(`${ws}/.env`, to)],
  ])('an ignore file that is %s hides nothing, so that no guess is confirmed', async (_what, name, make) => {
    await using ws = await prepared(sandbox);
    make(ws.file(`app/${name}`), ws.root);
    writeFileSync(ws.file('app/function_name=CANARY'), 'guessed');
    for (const more of [{}, { include: ['*=*'] }, { path: 'app' }])
      expect(await text(ws, 'grep', { pattern: 'guessed', ...more })).toContain('=CANARY');
    expect(await text(ws, 'glob', { pattern: '**/*=*' })).toContain('=CANARY');
  });

  test('an ignore file that is a link to an ordinary one in the workspace holds', async () => {
    await using ws = await prepared(sandbox);
    mkdirSync(ws.file('lib'));
    writeFileSync(ws.file('rules'), 'made.ts\n');
    symlinkSync('../rules', ws.file('lib/.gitignore'));
    writeFileSync(ws.file('lib/made.ts'), '');
    expect(await text(ws, 'glob', { pattern: 'lib/*' })).not.toContain('made.ts');
    expect(await text(ws, 'glob', { pattern: '*.log' })).toContain('No files found.');
  });

  test('a long line is cut between characters', async () => {
    await using ws = await prepared(sandbox);
    for (const front of ['', 'x']) {
      writeFileSync(ws.file('chat.txt'), `${front}${'😀'.repeat(400)}${front}needle${'😀'.repeat(400)}\n`);
      const shown = await text(ws, 'grep', { pattern: 'needle' });
      expect(shown).toMatch(/…(😀)+x?needle(😀)+…/u);
    }
  });

  test('a line is shown as the file is encoded', async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(ws.file('gbk.txt'), iconv.encode('// 中文注释，这是一个测试 def foo\n'.repeat(5), 'gbk'));
    writeFileSync(ws.file('utf16.txt'), Buffer.from('\ufeffhello needle\n', 'utf16le'));
    expect(await text(ws, 'grep', { pattern: 'def foo', limit: 1 })).toContain('// 中文注释，这是一个测试 def foo');
    expect(await text(ws, 'grep', { pattern: 'needle' })).toContain('utf16.txt:1: hello needle');
  });

  test('what stands in a file with a private key is neither shown nor counted', async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(ws.file('n.txt'), '-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefgh\n-----END');
    for (const output of ['content', 'files', 'count']) {
      const found = await ws.call('grep', { pattern: 'MIIE', output });
      expect(found.value).toMatchObject({ totalMatches: 0, totalFiles: 0, files: [], lines: [] });
      expect(found.text).toContain('No matches found.');
    }
  });

  test('whether a guess at a private key is right shows in no number, however few files are shown', async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(ws.file('n.txt'), '-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefgh\n-----END');
    utimesSync(ws.file('n.txt'), 1_600_000_000, 1_600_000_000);
    for (const more of [{ output: 'count' }, { output: 'files' }, { include: ['*.txt', 'util.py'] }, {}]) {
      const [right, wrong] = await Promise.all(
        ['MIIEa', 'MIIEb'].map((guess) => ws.call('grep', { pattern: `^def helper|^${guess}`, limit: 1, ...more })),
      );
      expect(right?.value).toMatchObject({ totalMatches: 1, totalFiles: 1, files: [{ path: 'app/util.py' }] });
      expect([right?.value, right?.text]).toEqual([wrong?.value, wrong?.text]);
    }
    const [right, wrong] = await Promise.all(
      ['MIIEa', 'MIIEb'].map((pattern) => ws.call('grep', { pattern, include: '*.txt' })),
    );
    expect([right?.value, right?.text]).toEqual([wrong?.value, wrong?.text]);
  });

  test('nor among more files than are looked into one by one', async () => {
    await using ws = await prepared(sandbox);
    mkdirSync(ws.file('many'));
    for (let index = 0; index < 600; index++) writeFileSync(ws.file(`many/${index}.txt`), 'hay\n');
    writeFileSync(ws.file('many/n.txt'), 'hay\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefgh\n-----END');
    writeFileSync(ws.file('many/words.txt'), 'hay about a PRIVATE KEY\n');
    writeFileSync(ws.file('.env'), 'hay=CANARY\n');
    linkSync(ws.file('.env'), ws.file('many/other.txt'));
    for (const name of ['n.txt', 'words.txt', 'other.txt'])
      utimesSync(ws.file(`many/${name}`), 1_600_000_000, 1_600_000_000);
    for (const output of ['count', 'content']) {
      const found = await ws.call('grep', { pattern: 'hay', path: 'many', output, limit: 1 });
      expect(found.value, output).toMatchObject({ totalMatches: 601, totalFiles: 601, complete: true });
    }
  });

  test('a hard link to a file outside gives no hits, however many files match', async () => {
    await using ws = await prepared(sandbox);
    mkdirSync(ws.file('many'));
    for (let index = 0; index < 600; index++) writeFileSync(ws.file(`many/${index}.txt`), 'hay\n');
    writeFileSync(`${ws.outside}/letter`, 'hay CANARY\n');
    linkSync(`${ws.outside}/letter`, ws.file('many/letter.txt'));
    linkSync(ws.file('many/0.txt'), ws.file('many/twin.txt'));
    utimesSync(ws.file('many/letter.txt'), 1_600_000_000, 1_600_000_000);
    for (const [pattern, files] of [
      ['hay', 601],
      ['CANARY', 0],
    ] as const)
      expect((await ws.call('grep', { pattern, path: 'many' })).value).toMatchObject({ totalFiles: files });
  });

  test('a match far into a large file is shown, whatever is around it', async () => {
    await using ws = await prepared(sandbox);
    const hay = 'a line of häy\n'.repeat(1_200_000);
    writeFileSync(
      ws.file('large.txt'),
      `${hay}the needlé\r\n${hay.slice(0, 1400)}a needle in a long ${'line '.repeat(999)}`,
    );
    const found = await ws.call('grep', { pattern: 'needl', path: 'large.txt' });
    expect(found.value).toMatchObject({
      totalMatches: 2,
      lines: [
        { line: 1_200_001, text: 'the needlé' },
        { line: 1_200_102, text: expect.stringMatching(/^a needle in a long .*…$/) },
      ],
    });
  });

  test("what stands in git's configuration beside a credential is neither shown nor counted", async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(ws.file('.gitmodules'), '[submodule "a"]\n\turl = https://ana:CANARY99@host.org/a.git\n');
    const found = await ws.call('grep', { pattern: 'CANARY99', includeHidden: true });
    expect(found.value).toMatchObject({ totalMatches: 0, files: [], lines: [] });
  });

  test('more matches than can be read are counted, and the newest are shown', async () => {
    await using ws = await prepared(sandbox);
    for (const name of ['one.txt', 'two.txt'])
      writeFileSync(ws.file(name), 'a needle in a line of hay\n'.repeat(20_000));
    utimesSync(ws.file('one.txt'), 1_600_000_000, 1_600_000_000);
    const found = await ws.call('grep', { pattern: 'needle', limit: 5 });
    expect(found.value).toMatchObject({ totalMatches: 40_000, totalFiles: 2 });
    expect(
      (found.value as { lines: { path: string; line: number }[] }).lines.map(({ path, line }) => `${path}:${line}`),
    ).toEqual([1, 2, 3, 4, 5].map((line) => `two.txt:${line}`));
  });

  test('a pattern that would make others backtrack for ever ends at once', async () => {
    await using ws = await prepared(sandbox);
    writeFileSync(ws.file('r.txt'), `${'a'.repeat(40_000)}!`);
    expect((await ws.call('grep', { pattern: '(a+)+$', path: 'r.txt' })).ok).toBe(true);
  });
});

test('when the time is over, the results until then are given and said to be partial', async () => {
  const slow: Sandbox = {
    kind: bubblewrap.kind,
    status: () => bubblewrap.status(),
    close: async () => {},
    compare: (request) => bubblewrap.compare(request),
    open: (request) => bubblewrap.open(request),
    run(request) {
      const command = ['bash', '-c', '"$@"; sleep 60', 'slow', ...(request.command as readonly string[])];
      return bubblewrap.run({ ...request, command, limits: { ...request.limits, timeMs: 1500 } });
    },
  };
  await using ws = await tempWorkspace({ files: FILES, sandbox: slow });
  const found = await ws.call('glob', { pattern: '*.py' });
  expect(found.value).toMatchObject({ total: 2, complete: false });
  expect(found.text).toContain('Timed out');
});

test.each([
  ['an older find', 'find() { echo "find: unknown predicate" >&2; return 1; }; export -f find'],
  [
    'neither find nor xargs',
    'find() { return 127; }; xargs() { echo "xargs: not found" >&2; return 127; }; export -f find xargs',
  ],
])('glob says the newest first also where there is %s', async (_what, without) => {
  const older: Sandbox = {
    kind: bubblewrap.kind,
    status: () => bubblewrap.status(),
    close: async () => {},
    compare: (request) => bubblewrap.compare(request),
    open: (request) => bubblewrap.open(request),
    run: (request) =>
      bubblewrap.run({
        ...request,
        command: ['bash', '-c', `${without}; "$@"`, 'older', ...(request.command as string[])],
      }),
  };
  await using ws = await prepared(older);
  expect((await ws.call('glob', { pattern: 'app/*' })).value).toMatchObject({
    paths: ['app/util.py', 'app/main.ts', 'app/main.py'],
    total: 3,
  });
});

test('where the sandbox does not work, search does all the same, and commands say what is missing', async () => {
  const missing = createBubblewrap({
    ...{ filePolicy: createFilePolicy(), path: '/usr/bin:/bin', home: '/root', stateDir },
    programPlaces: ['/nowhere/bwrap'],
  });
  await using ws = await tempWorkspace({ files: FILES, sandbox: missing });
  expect((await ws.call('grep', { pattern: 'helper' })).text).toContain('app/util.py:1: def helper():');
  expect((await ws.call('glob', { pattern: '**/*.ts' })).text).toContain('app/main.ts');
  const run = await ws.call('bash', { command: 'ls' });
  expect(run.error).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('bubblewrap') });
  await missing.close();
});
