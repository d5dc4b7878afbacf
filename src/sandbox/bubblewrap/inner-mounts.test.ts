import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { removeTree } from '../../host/remove-tree.ts';

test('a run in a workspace with a mount in it says that it was copied, and why', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'inner-mounts-')));
  const [home, state, workspace, other] = ['home', 'state', 'ws', 'other'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, state, join(workspace, 'data'), other]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(other, 'a'), '1');
  const program = new URL('../../testing/stages/print-notes.mjs', import.meta.url).pathname;
  const mounts = ['--dev-bind', '/', '/', '--bind', other, join(workspace, 'data')];
  const words = [...mounts, '--', process.execPath, program, home, state, workspace, 'echo 2 >data/b'];
  const { stdout } = await promisify(execFile)('bwrap', words).finally(() => removeTree(root));
  expect(JSON.parse(stdout)).toMatchObject({
    notes: ['There is a mount inside the workspace (data), so it was copied for this run: unmount it for speed.'],
    changes: ['created data/b'],
  });
});
