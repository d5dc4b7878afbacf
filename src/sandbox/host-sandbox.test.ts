import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ok } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { processesTagged } from '../testing/sandbox-contract.ts';
import { createHostSandbox, NO_STAGES } from './host-sandbox.ts';
import { createNone } from './none.ts';

const path = process.env['PATH'] ?? '';
const root = realpathSync(mkdtempSync(join(tmpdir(), 'host-sandbox-')));
const workspace = join(root, 'ws');
mkdirSync(workspace);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const options = { path, home: root, stateDir: root };

test('two sandboxes of one process do not end each other’s commands', async () => {
  const [one, other] = [createNone(options), createNone(options)];
  const request = { workspace, mounts: 'live', tag: 'two' } as const;
  let begun = () => {};
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const long = one.run({ ...request, command: { script: 'echo begun; sleep 1; exit 7' }, onOutput: () => begun() });
  await started;
  expect(await other.run({ ...request, command: ['true'] })).toMatchObject({ ok: true, value: { exitCode: 0 } });
  expect(await long).toMatchObject({ ok: true, value: { exitCode: 7, signal: null } });
  await Promise.all([one.close(), other.close()]);
});

/** The parts of seatbelt, without its profile. */
function createByPs(): Sandbox {
  const settled = { network: [], notes: [] };
  return createHostSandbox({
    ...{ kind: 'seatbelt', path, stateDir: root, privateFolders: [], processes: 'ps' },
    status: async () => ok({ kind: 'seatbelt', isolated: true, details: {}, stages: NO_STAGES }),
    plan: async (_request, _checked, folder) =>
      ok({ wrapper: [], ulimits: ':', env: { PATH: path }, folder, settle: async () => settled }),
  });
}

test.each([
  ['/proc', () => createNone(options)],
  ['ps', createByPs],
])('what a killed process left is ended and removed by the next one, found through %s', async (name, next) => {
  const tag = `killed-${process.pid}-${name}`;
  const source = new URL('none.ts', import.meta.url).pathname;
  const program = join(root, 'program.mts');
  writeFileSync(
    program,
    `import { createNone } from '${source}';
const sandbox = createNone(${JSON.stringify(options)});
const command = { script: 'setsid sleep 300 & echo begun; sleep 300' };
void sandbox.run({ command, workspace: '${workspace}', mounts: 'live', tag: '${tag}', onOutput: () => console.log('begun') });`,
  );
  const tsx = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', tsx, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  // Before: behind it, any sandbox of this user may be the next one.
  await expect.poll(() => processesTagged(tag).length).toBeGreaterThan(1);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));

  const sandbox = next();
  const request = { command: ['true'], workspace, mounts: 'live', tag: 'next' } as const;
  expect(await sandbox.run(request)).toMatchObject({ ok: true });
  await expect.poll(() => processesTagged(tag), { timeout: 3_000 }).toEqual([]);
  await sandbox.close();
  expect(readdirSync(root).filter((name) => name.startsWith('toolwright-'))).toEqual([]);
});
