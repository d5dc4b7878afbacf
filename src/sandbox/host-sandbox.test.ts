import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createNone } from './none.ts';

const path = process.env['PATH'] ?? '';
const root = realpathSync(mkdtempSync(join(tmpdir(), 'host-sandbox-')));
const workspace = join(root, 'ws');
mkdirSync(workspace);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const options = { path, home: root, stateFolder: root };

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
