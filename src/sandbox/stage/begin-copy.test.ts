import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { trySandbox } from '../../testing/try-sandbox.ts';

const at = trySandbox({ path: process.env['PATH'] ?? '', stages: 'copy' });
afterAll(() => at[Symbol.asyncDispose]());

/** A little more than may be copied. */
const BYTES = 501 * 1024 * 1024;

function workspaceWith(name: string): string {
  const workspace = join(at.root, `workspace of ${name}`);
  mkdirSync(workspace);
  writeFileSync(join(workspace, name), '');
  truncateSync(join(workspace, name), BYTES);
  return workspace;
}

test('a workspace with more bytes than may be copied is refused with the repair, and nothing ran', async () => {
  const workspace = workspaceWith('large.bin');
  const folder = await at.stage();
  const command = { script: 'echo ran >ran.txt' };
  const refused = await at.sandbox.run({ command, workspace, mounts: 'staged', tag: 't', stage: { folder } });
  if (refused.ok) throw new Error('it ran');
  const { code, message, details } = refused.error;
  expect(code).toBe('SANDBOX_UNAVAILABLE');
  expect(message).toContain(`${workspace}, and it has more than 20,000 files or 500 MB`);
  expect(message).toContain('move it to a disk such as ext4, or allow overlays');
  expect(message).toContain(`${details?.['repair']}`);
  expect(readdirSync(folder)).toEqual([]);
  expect(existsSync(join(workspace, 'ran.txt'))).toBe(false);
});

test('the content of hidden files counts nothing, since it is not copied', async () => {
  const workspace = workspaceWith('.env');
  const { staged } = await at.sh('echo ran >ran.txt', { workspace });
  expect(staged?.changes.map(({ path }) => path)).toEqual(['ran.txt']);
});
