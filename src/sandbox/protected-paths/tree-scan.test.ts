import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

/** In a process that can have only a few files open; `starve` takes all that are left until `feed`. */
function inShortage(code: string): unknown {
  const source = (file: string) => new URL(file, import.meta.url).pathname;
  const program = join(root, 'program.mts');
  writeFileSync(
    program,
    `import { closeSync, openSync, closeSync, openSync, writeFileSync } from 'node:fs';
import { createFilePolicy } from '${source('../../kernel/world/file-policy.ts')}';
import { createSeatbelt } from '${source('../seatbelt/seatbelt.ts')}';
import { remember, sweep } from '${source('quarantine-planted.ts')}';
import { createTreeScan } from '${source('tree-scan.ts')}';
const [workspace, home, stateDir] = ['${workspace}', '${root}/home', '${root}/state'];
const taken = [];
function starve() {
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {}
}
function feed() {
  for (const fd of taken.splice(0)) closeSync(fd);
}
${code}`,
  );
  const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const limited = ['-c', 'ulimit -n 160; exec "$@"', 'sh', process.execPath, '--import', tsx, program];
  const { stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
  return JSON.parse(stdout || JSON.stringify(stderr));
}

test('a folder that cannot be read for want of descriptors is told after a run, and not taken for planted', () => {
  const told = inShortage(`const scan = createTreeScan(createFilePolicy(), home);
const { found: before } = await scan.find(workspace);
const memory = await remember(workspace, before);
writeFileSync(workspace + '/src/new.ts', '');
starve();
const after = await scan.find(workspace);
feed();
const names = [...after.names().keys()].sort();
console.log(JSON.stringify({ ...(await sweep(workspace, before, after.found, memory)), names }));`);
  expect(told).toEqual({ quarantined: [], left: ['src'], names: ['', 'src', 'src/deep'] });
  expect(readdirSync(workspace)).toEqual(['src']);
});

test('before a run it is a failure that says what to do', () => {
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
  const { found } = await createTreeScan(createFilePolicy(), root).find(folder);
  isDone = true;
  expect(found.map(({ path }) => path)).toEqual(['.env']);
  expect(turns).toBeGreaterThan(5);
});

test('names are those of the look that they come with, whoever looked since', async () => {
  const folder = join(root, 'shared');
  mkdirSync(folder);
  const scan = createTreeScan(createFilePolicy(), root);
  const first = await scan.find(folder);
  writeFileSync(join(folder, '.env'), '');
  const second = await scan.find(folder);
  expect([first, second].map(({ found, names }) => [found.length, names().get('')])).toEqual([
    [0, []],
    [1, ['.env']],
  ]);
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
  await createTreeScan(createFilePolicy(), root).find(folder);
  isDone = true;
  count();
  return longest / (performance.now() - startedAt);
}

function repositoryIn(folder: string, config: string): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, '.git', name), { recursive: true });
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(folder, '.git/config'), config);
}

const hooksPaths = (count: number): string =>
  `[core]\n${Array.from({ length: count }, (_, i) => `hooksPath=h${i}\n`).join('')}`;

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
  [
    'repositories that name folders of hooks',
    (folder: string) => {
      for (let i = 0; i < 500; i++) repositoryIn(join(folder, String(i)), hooksPaths(100));
    },
  ],
])('other work goes on while very many %s are looked at', { timeout: 60_000 }, async (what, fill) => {
  const folder = join(root, what);
  mkdirSync(folder);
  fill(folder);
  expect(await longestPause(folder)).toBeLessThan(0.35);
});

test.each([
  { count: 100, unlooked: [] },
  { count: 101, unlooked: ['.git/config'] },
])(
  'of $count folders of hooks that git is sent to, those are found that are looked for',
  async ({ count, unlooked }) => {
    const folder = join(root, `named-${count}`);
    repositoryIn(folder, hooksPaths(count));
    mkdirSync(join(folder, 'h99'));
    const { found } = await createTreeScan(createFilePolicy(), root).find(folder);
    expect(found.filter(({ because }) => because === 'failed').map(({ path }) => path)).toEqual(unlooked);
    expect(found.map(({ path }) => path)).toContain('h99');
  },
);
