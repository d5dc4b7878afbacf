import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createPipePool } from '../run/pipes.ts';
import { createLauncherPool } from './launcher.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'descriptors-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const descriptors = () => readdirSync('/proc/self/fd').length;

test('a launcher that cannot be made keeps no descriptors', () => {
  const pipes = createPipePool(root);
  pipes.take();
  let left = 0;
  const scarce = {
    ...pipes,
    take() {
      if (left-- === 0) throw new Error('no descriptors');
      return pipes.take();
    },
  };
  const settings = { folder: root, pipes: scarce, cgroups: null, inherited: [] };
  for (const [takes, seccomp] of [
    [0, null],
    [1, null],
    [2, null],
    [9, join(root, 'missing')],
  ] as const) {
    // Each pipe that is taken was one descriptor of the pool's.
    const before = descriptors();
    left = takes;
    expect(() => createLauncherPool({ ...settings, seccomp }, 0).take('plain')).toThrow();
    expect(descriptors()).toBeLessThanOrEqual(before);
  }
  pipes.close();
});

/** Prints how many descriptors of the state folder's files are left, which files, and whether any run failed. */
const PROGRAM = `
const targetOf = (fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } };
// Node itself loses sockets and loops when it cannot start a process; files and pipes are ours.
const count = () => readdirSync('/proc/self/fd').filter((fd) => targetOf(fd).includes(stateDir)).length;
const sandbox = create();
const run = () => sandbox.run({ command: { script: 'true' }, stdin: LIVE_INPUT, workspace, mounts: 'read', tag: 't' });
await run();
let failed = 0;
for (let free = 1; free <= 24; free++) {
  const all = [];
  try {
    for (;;) all.push(openSync('/dev/null', 'r'));
  } catch {}
  for (let i = 0; i < free; i++) closeSync(all.pop());
  const ran = await run().catch((error) => ({ ok: false, error }));
  for (const fd of all) closeSync(fd);
  if (!ran.ok) failed++;
  else ran.value.output.log.dispose();
}
const kept = readdirSync(stateDir).flatMap((name) => readdirSync(stateDir + '/' + name)).filter((name) => /^(script|pipe|file)-/.test(name));
await sandbox.close();
console.log(JSON.stringify({ kept, open: count(), failed: failed > 0 }));
`;

test.each([
  ['bubblewrap', 'createBubblewrap({ ...options, filePolicy: createFilePolicy() })'],
  ['none', 'createNone(options)'],
])(
  'runs of %s that had too few descriptors keep none',
  (_name, create) => {
    const source = (file: string) => new URL(file, import.meta.url).pathname;
    const [workspace, stateDir] = [mkdtempSync(join(root, 'ws-')), mkdtempSync(join(root, 'state-'))];
    const program = join(root, 'program.mts');
    writeFileSync(
      program,
      `import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { createFilePolicy } from '${source('../../kernel/world/file-policy.ts')}';
import { LIVE_INPUT } from '${source('../../kernel/world/sandbox.ts')}';
import { createBubblewrap } from '${source('bubblewrap.ts')}';
import { createNone } from '${source('../none.ts')}';
const [workspace, stateDir] = ['${workspace}', '${stateDir}'];
const options = { path: process.env.PATH, home: '/nonexistent', stateDir };
const create = () => ${create};
${PROGRAM}`,
    );
    const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
    const limited = ['-c', 'ulimit -n 160; exec "$@"', 'sh', process.execPath, '--import', tsx, program];
    const { stdout, stderr } = spawnSync('/bin/sh', limited, { encoding: 'utf8' });
    expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual({ kept: [], open: 0, failed: true });
  },
  60_000,
);
