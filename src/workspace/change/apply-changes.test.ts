import { appendFileSync, chmodSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

const patch = (...files: string[]) => `*** Begin Patch\n${files.join('\n')}\n*** End Patch\n`;
const add = (path: string) => `*** Add File: ${path}\n+x`;
const update = (path: string) => `*** Update File: ${path}\n@@\n-one\n+two`;

test('a patch that is refused leaves no folder behind, also none in a folder that it made', async () => {
  await using ws = await tempWorkspace({ files: { 'ro.txt': 'one\n' } });
  chmodSync(ws.file('ro.txt'), 0o444);
  const refused = await ws.call('apply_patch', {
    patch: patch(add('new/a.txt'), add('new/sub/b.txt'), update('ro.txt')),
  });
  expect(refused.error?.code).toBe('PERMISSION_DENIED');
  expect(readdirSync(ws.root)).toEqual(['ro.txt']);
});

test.each([true, false])('nor does one that fails half way (journal: %s)', async (journal) => {
  await using ws = await tempWorkspace({ journal, files: { 'b.txt': 'one\n' } });
  let written = 0;
  const disarm = armFailpoints((name) => {
    if (name === 'workspace.written' && ++written === 2) appendFileSync(ws.file('b.txt'), 'theirs\n');
  });
  const failed = await ws.call('apply_patch', {
    patch: patch(add('new/a.txt'), update('b.txt'), add('new/sub/c.txt')),
  });
  disarm();
  expect(failed.error?.code).toBe('CONFLICT');
  expect(readdirSync(ws.root)).toEqual(['b.txt']);
  expect(readFileSync(ws.file('b.txt'), 'utf8')).toBe('one\ntheirs\n');
});
