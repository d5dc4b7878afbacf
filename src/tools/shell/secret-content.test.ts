import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const VALUE = 'q7Tz'.concat('9bLw2'.repeat(2), 'Kd3Xv8Rm');
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${VALUE}${VALUE}\n-----END RSA PRIVATE KEY-----\n`;
/** Stands in each file: what is printed of it is no secret that the filter of the output replaces. */
const MARK = 'a-plain-mark';
const FILES = {
  'notes.txt': `${MARK}\n${KEY}`,
  'project-1a2b.json': `${JSON.stringify({ name: MARK, private_key: KEY })}\n`,
  'src/config.ts': `export const ${MARK.replaceAll('-', '_')} = 'ghp_${VALUE}${VALUE}';\n// ${MARK}\n`,
  'open.txt': 'open\n',
  '.env.test': 'PORT=3000\n',
};

let ws: TempWorkspace;
beforeAll(async () => {
  ws = await commandWorkspace({ path, mode: 'auto', files: FILES });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', ws.root, '-c', 'user.email=a@b.c', '-c', 'user.name=t', ...args], { stdio: 'ignore' });
  git('init', '-q');
  // Git opens a file again that is as new as its index.
  for (const name of ['notes.txt', 'open.txt']) utimesSync(ws.file(name), 1e9, 1e9);
  git('add', 'open.txt', 'notes.txt');
  git('commit', '-qm', 'first');
  git('remote', 'add', 'origin', `https://ana:${VALUE}@example.org/x.git`);
});
afterAll(() => ws[Symbol.asyncDispose]());

const run = async (command: string) => (await ws.call('bash', { command })).text;

test('bash does not see a file whose content is a secret, and says which one, why and what to do', async () => {
  const text = await run('cat notes.txt project-1a2b.json src/config.ts open.txt .env.test');
  expect(text).not.toContain(MARK);
  expect(text).toContain('open\nPORT=3000');
  expect(text).toMatch(
    /notes\.txt is hidden from commands: it holds a private key\..*toolwright paths no-secret notes\.txt/,
  );
  expect(text).toMatch(/src\/config\.ts is hidden from commands: it holds a GitHub token\./);
});

test('run_code does not see it, nor does a command that looks through everything', async () => {
  const code =
    'import glob\nfor p in glob.glob("**", recursive=True):\n  try: print(open(p).read())\n  except OSError as e: print(e)';
  const { text } = await ws.call('run_code', { language: 'python', code });
  expect(text).toContain('open');
  expect(text).not.toContain(MARK);
  expect(await run('grep -r plain-mark . ; tar c *.txt src | strings | grep plain-mark')).not.toMatch(
    /^.*a-plain-mark/m,
  );
});

test('git works beside it: a hidden file is no change, its credentials stay readable for git and are replaced', async () => {
  expect(await run('git log --oneline -- open.txt; git ls-files')).toMatch(/first\nnotes\.txt\nopen\.txt/);
  const remote = await run('git remote get-url origin');
  expect(remote).toContain('example.org');
  expect(remote).not.toContain(VALUE);
  await run('echo more >>open.txt; git add open.txt');
  expect(await run('git hash-object notes.txt')).toMatch(/denied|could not open/i);
  expect(readFileSync(ws.file('notes.txt'), 'utf8')).toBe(FILES['notes.txt']);
});

test('a tracked file that is hidden does not stand in the way of git, and its content is committed as it was', async () => {
  const commit = 'git -c user.name=t -c user.email=a@b.c commit -qam second';
  const text = await run(
    `git status --short notes.txt; echo line >>open.txt; git add -u && ${commit} && git status -sb -uno`,
  );
  expect(text).toContain('[exit code 0');
  expect(text).not.toMatch(/^.?.? ?notes\.txt/m);
  const show = (path: string) => execFileSync('git', ['-C', ws.root, 'show', `HEAD:${path}`], { encoding: 'utf8' });
  expect(show('notes.txt')).toBe(FILES['notes.txt']);
  expect(show('open.txt')).toContain('line');
});

test.each([
  'mv notes.txt moved.txt',
  'ln notes.txt moved.txt; rm notes.txt',
  'v=.en; mv $v"v" moved.txt; mv src/config.ts moved.ts',
])('no hidden file is lost, and no mask is kept in its place: %s', async (command) => {
  await run(command);
  expect(readFileSync(ws.file('notes.txt'), 'utf8')).toBe(FILES['notes.txt']);
  expect(readFileSync(ws.file('src/config.ts'), 'utf8')).toBe(FILES['src/config.ts']);
  expect([existsSync(ws.file('moved.txt')), existsSync(ws.file('moved.ts'))]).toEqual([false, false]);
});

test('git add of everything says which hidden file stands in the way, why, and what to do', async () => {
  await using fresh = await commandWorkspace({
    path,
    mode: 'auto',
    files: { '.env': `KEY=${VALUE}\n`, 'a.txt': 'a\n' },
  });
  execFileSync('git', ['init', '-q', fresh.root]);
  const { text } = await fresh.call('bash', { command: 'git add -A' });
  expect(text).toMatch(/\[git add cannot add a file that is hidden .*\.gitignore, or add the other files by name\.\]/);
  expect(text).toMatch(/\[\.env is hidden from commands: .*A person may free it/);
  writeFileSync(fresh.file('.gitignore'), '.env\n');
  const ignored = await fresh.call('bash', { command: 'git add -A && git status --short' });
  expect(ignored.text).toMatch(/^A {2}\.gitignore\nA {2}a\.txt\n/);
});

test('a process in the background sees no secret that comes while it runs', async () => {
  const command = 'echo begun; while :; do cat late.txt also.txt 2>/dev/null; sleep 0.02; done';
  const started = await ws.call('bash', { command, background: true });
  const { id } = (started.value as { process: { id: string } }).process;
  writeFileSync(ws.file('also.txt'), 'nothing');
  writeFileSync(ws.file('late.next'), `${MARK}\n${KEY}`);
  renameSync(ws.file('late.next'), ws.file('late.txt'));
  writeFileSync(ws.file('also.txt'), 'the end');
  await expect
    .poll(async () => (await ws.call('process_output', { id })).text, { timeout: 20_000 })
    .toContain('the end');
  writeFileSync(ws.file('also.txt'), `${MARK}\n${KEY}`);
  linkSync(ws.file('notes.txt'), ws.file('third.txt'));
  writeFileSync(ws.file('last.txt'), '');
  const ended = await ws.call('process_stop', { id });
  expect(ended.text).not.toContain(MARK);
  expect((await ws.call('process_output', { id })).text).not.toContain(MARK);
});

test('a file tool or the host that writes a secret hides it from the next command', async () => {
  await ws.call('write_file', { path: 'made.txt', content: 'made\n' });
  expect(await run('cat made.txt')).toContain('made');
  writeFileSync(ws.file('made.txt'), `${MARK}\n${KEY}`);
  expect(await run('cat made.txt')).not.toContain(MARK);
  writeFileSync(ws.file('made.txt'), `${MARK}\n`);
  expect(await run('cat made.txt')).toContain(MARK);
});
