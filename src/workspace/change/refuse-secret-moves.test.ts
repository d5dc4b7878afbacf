import { linkSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';

const VALUE = 'q7Tz'.concat('9bLw2'.repeat(2), 'Kd3Xv8Rm');
const SETTINGS = 'db:\n  host: x\n  password: "Tr0ub4dor!9x"\n';

test.each([
  ['conf/db.yaml', SETTINGS, 'conf/db.md'],
  ['auth.token', `${VALUE}\n`, 'note.txt'],
  ['gh.conf', `ghp_${VALUE}`, 'a/b/gh.conf'],
])('%s, whose content and name make it a secret, gets no other name', async (path, content, to) => {
  await using ws = await tempWorkspace({ files: { [path]: content } });
  const moved = await ws.call('move_file', { from: path, to });
  const message = expect.stringMatching(new RegExp(`^${path} holds a .*toolwright paths no-secret ${path}`));
  expect(moved.error).toMatchObject({ code: 'PERMISSION_DENIED', message });
  expect(readFileSync(ws.file(path), 'utf8')).toBe(content);
});

test('a folder with a secret is not moved, and the message names the file; others and packages may be', async () => {
  await using ws = await tempWorkspace({
    files: { 'conf/secrets/api': VALUE, 'src/a.ts': 'export {}\n', 'src/node_modules/p/k.token': VALUE },
  });
  const moved = await ws.call('move_file', { from: 'conf', to: 'things' });
  expect(moved.error).toMatchObject({
    code: 'PERMISSION_DENIED',
    message: expect.stringContaining('conf/secrets/api holds'),
  });
  expect((await ws.call('move_file', { from: 'src', to: 'lib' })).ok).toBe(true);
});

test('a file with two names is read as the stricter of them', async () => {
  await using ws = await tempWorkspace({ files: { 'conf/db.yaml': SETTINGS, 'tokens/api': VALUE, 'a.token': VALUE } });
  linkSync(ws.file('conf/db.yaml'), ws.file('db.md'));
  linkSync(ws.file('a.token'), ws.file('a.txt'));
  for (const path of ['db.md', 'a.txt']) {
    expect((await ws.call('read_file', { path })).error?.code).toBe('PERMISSION_DENIED');
    expect((await ws.call('move_file', { from: path, to: 'b.txt' })).error?.code).toBe('PERMISSION_DENIED');
  }
});
