import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type TrySandbox, trySandbox } from '../../testing/try-sandbox.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'own-programs-')));
const workspace = join(root, 'ws');
const bin = join(workspace, '.venv/bin');
mkdirSync(bin, { recursive: true });
mkdirSync(join(workspace, 'lib'));
writeFileSync(join(bin, 'own-tool'), '#!/bin/sh\necho ran\n');
chmodSync(join(bin, 'own-tool'), 0o755);
writeFileSync(join(bin, '.env'), 'CANARY');
symlinkSync(workspace, join(root, 'link'));
const path = process.env['PATH'] ?? '';
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['as it is', bin],
  ['by a link to the workspace', join(root, 'link/.venv/bin')],
])('a folder of the workspace on the search path, %s, is part of the workspace', async (_how, entry) => {
  await using at = trySandbox({ path: `${entry}:${path}`, readOnlyFolders: [join(workspace, 'lib')] });
  await runsIn(at, workspace);
  await runsIn(at, join(root, 'link'));
});

async function runsIn(at: TrySandbox, given: string): Promise<void> {
  for (const mounts of ['read', 'staged'] as const) {
    const { stdout } = await at.sh(`own-tool; cat ${bin}/.env ${root}/link/.venv/bin/.env`, {
      workspace: given,
      mounts,
    });
    expect(stdout).toBe('ran\n');
  }
  const { stderr } = await at.sh(`touch ${bin}/new lib/new && rm ${bin}/new lib/new`, { workspace: given });
  expect(stderr).toBe('');
}
