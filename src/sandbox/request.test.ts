import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkRequest } from './request.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'request-')));
for (const name of ['real-home/u/p', 'p/.git/x', '.ssh', 'p/.toolwright'])
  mkdirSync(join(root, name), { recursive: true });
symlinkSync('real-home', join(root, 'home'));
afterAll(() => rmSync(root, { recursive: true }));

const check = (workspace: string, home = join(root, 'home/u')) =>
  checkRequest({ command: ['true'], workspace, mounts: 'read', tag: 't' }, [home]);

test.each([
  '/',
  '/etc',
  '/etc/ssl',
  '/proc/self',
  '/sys/kernel',
  '/dev/shm',
  '/run',
  '/var/lib/dpkg',
  '/usr/share',
  '/root',
])('%s is never a workspace', (folder) => {
  expect(check(folder)).toMatchObject({ ok: false, error: { code: 'INVALID_PATH' } });
});

test.each(['p/.git', 'p/.git/x', '.ssh', 'p/.toolwright'])('%s is private wherever it lies', (folder) => {
  expect(check(join(root, folder))).toMatchObject({ ok: false, error: { code: 'INVALID_PATH' } });
});

test('a folder that holds the home is refused, also when the home is given by a link', () => {
  expect(check(join(root, 'real-home'))).toMatchObject({ ok: false, error: { code: 'INVALID_PATH' } });
  expect(check(join(root, 'real-home/u'))).toMatchObject({ ok: false, error: { code: 'INVALID_PATH' } });
  expect(check(join(root, 'real-home/u/p'))).toMatchObject({ ok: true });
});
