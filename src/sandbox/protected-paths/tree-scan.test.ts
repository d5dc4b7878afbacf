import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { createTreeScan } from './tree-scan.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'tree-scan-')));
const workspace = join(root, 'ws');
beforeAll(() => {
  for (const name of ['ws', 'ws/src', 'ws/src/deep', 'state', 'home']) mkdirSync(join(root, name));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const source = (file: string) => new URL(file, import.meta.url).pathname;

/** In a process that can have only a few files open; `starve` takes all that are left until `feed`. */
function inShortage(code: string): unknown {
  const shortage = `import { createSeatbelt } from '${source('../seatbelt/seatbelt.ts')}';
const taken = [];
function starve() {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {}
}
function feed() {
  for (const fd of taken.splice(0)) closeSync(fd);
}
${code}`;
  return inProgram(shortage, 'ulimit -n 160');
}

/** In a process of its own user namespace, after a command of the shell. */
function inProgram(code: string, limit: string): unknown {
  const program = join(root, 'program.mts');
  writeFileSync(
    program,
    `import { closeSync, openSync, closeSync, openSync, writeFileSync } from 'node:fs';
import { createFilePolicy } from '${source('../../kernel/world/file-policy.ts')}';
const [workspace, home, stateDir] = ['${workspace}', '${root}/home', '${root}/state'];
${code}`,
  );
  const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const limited = ['-c', `${limit}; exec "$@"`, 'sh', process.execPath, '--import', tsx, program];
  const { stdout, stderr } = spawnSync('unshare', ['-Ur', '/bin/sh', ...limited], { encoding: 'utf8' });
  return JSON.parse(stdout || JSON.stringify(stderr));
}

test('a folder that cannot be read for want of descriptors is a failure that says what to do', () => {
  const told = inShortage(`const options = { filePolicy: createFilePolicy(), home, stateDir, path: process.env.PATH };
const sandbox = createSeatbelt({ ...options, program: '/usr/bin/env' });
const run = () => sandbox.run({ command: ['true'], workspace, mounts: 'live', tag: 't' });
await run();
writeFileSync(workspace + '/src/newer.ts', '');
starve();
const failed = await run();
feed();
await sandbox.close();
console.log(JSON.stringify(failed));`);
  const message = expect.stringMatching(/src could not be read/);
  expect(told).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE', message } });
});

test('other work goes on while a folder with very many names is looked at', { timeout: 60_000 }, async () => {
  const folder = join(root, 'large');
  mkdirSync(folder);
  // Large also where a folder takes but a few bytes for each name, as in memory.
  for (let i = 0; i < 30_000; i++) closeSync(openSync(join(folder, `${'x'.repeat(60)}${i}`), 'w'));
  writeFileSync(join(folder, '.env'), '');
  let [turns, isDone] = [0, false];
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const found = await createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root }).find(
    folder,
  );
  isDone = true;
  expect(found.map(({ path }) => path)).toEqual(['.env']);
  expect(turns).toBeGreaterThan(5);
});

test('a file that was not looked into in time is found until it was', async () => {
  const folder = join(root, 'unread');
  mkdirSync(folder);
  for (const [name, text] of Object.entries({ 'a.txt': 'plain', 'b.txt': `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}` }))
    writeFileSync(join(folder, name), text);
  const waits: number[] = [];
  const hurried = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root, maxWaitMs: 0 });
  const found = await hurried.find(folder);
  expect(found.map(({ path, because }) => [path, because])).toEqual([
    ['a.txt', 'unread'],
    ['b.txt', 'unread'],
  ]);
  hurried.close();
  const patient = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root });
  const read = await patient.find(folder, (left) => waits.push(left));
  expect(read.map(({ path, secret }) => [path, secret])).toEqual([['b.txt', 'GitHub token']]);
  patient.close();
});

test('a secret behind many megabytes is found, and other work goes on meanwhile', async () => {
  const folder = join(root, 'long');
  mkdirSync(folder);
  const line = 'export const value = some.call(argument);\n';
  writeFileSync(join(folder, 'log.txt'), `${line.repeat(500_000)}ghp_${'q7Tz9bLw2Kd3'.repeat(3)}\n${line.repeat(10)}`);
  let [turns, isDone] = [0, false];
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const scan = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root });
  const found = await scan.find(folder);
  isDone = true;
  scan.close();
  expect(found.map(({ path, secret }) => [path, secret])).toEqual([['log.txt', 'GitHub token']]);
  expect(turns).toBeGreaterThan(10);
});

test('an edit counts also among more than the system tells of', { timeout: 60_000 }, async () => {
  const folder = join(root, 'flooded');
  mkdirSync(folder);
  for (let i = 0; i < 200; i++) writeFileSync(join(folder, `${i}`), '');
  const scan = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root });
  await scan.find(folder);
  for (let i = 0; i < 20_000; i++) writeFileSync(join(folder, `${i % 199}`), `${i}`);
  writeFileSync(join(folder, '199'), `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`);
  const found = await scan.find(folder);
  scan.close();
  expect(found.map(({ path }) => path)).toEqual(['199']);
});

test('what the system does not allow to be watched is looked at each time', () => {
  const folder = join(root, 'unwatched');
  mkdirSync(join(folder, 'a/b/c/d'), { recursive: true });
  writeFileSync(join(folder, 'a/b/c/d/x.txt'), 'plain');
  const told = inProgram(
    `import { createTreeScan } from '${source('./tree-scan.ts')}';
const scan = createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir });
const pathsOf = (found) => found.map(({ path }) => path);
const before = pathsOf(await scan.find('${folder}'));
writeFileSync('${folder}/a/b/c/d/x.txt', 'ghp_' + 'q7Tz9bLw2Kd3'.repeat(3));
const changed = pathsOf(await scan.find('${folder}'));
writeFileSync('${folder}/a/b/c/d/x.txt', 'plain');
const freed = pathsOf(await scan.find('${folder}'));
console.log(JSON.stringify({ before, changed, freed, isLimited: scan.unwatched > 0 }));
scan.close();`,
    'echo 3 >/proc/sys/user/max_inotify_watches',
  );
  expect(told).toEqual({ before: [], changed: ['a/b/c/d/x.txt'], freed: [], isLimited: true });
});

/** How much of the time of a look nothing else could run at once. */
async function longestPause(folder: string): Promise<number> {
  const startedAt = performance.now();
  let [last, longest, isDone] = [startedAt, 0, false];
  const count = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await createTreeScan({ filePolicy: createFilePolicy(), purpose: 'hidden', stateDir: root }).find(folder);
  isDone = true;
  count();
  return longest / (performance.now() - startedAt);
}

test.each([
  [
    'links into packages',
    (folder: string) => {
      mkdirSync(join(folder, 'node_modules/p'), { recursive: true });
      for (let i = 0; i < 20_000; i++) symlinkSync('node_modules/p', join(folder, `l${i}`));
    },
  ],
  [
    'links with a hidden name',
    (folder: string) => {
      for (let i = 0; i < 20_000; i++) symlinkSync('target', join(folder, `${i}.key`));
      writeFileSync(join(folder, 'target'), '');
    },
  ],
])('other work goes on while very many %s are looked at', { timeout: 60_000 }, async (what, fill) => {
  const folder = join(root, what);
  mkdirSync(folder);
  fill(folder);
  expect(await longestPause(folder)).toBeLessThan(0.35);
});
