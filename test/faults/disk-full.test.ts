import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compileProgram } from './compile-program.ts';

const program = compileProgram('test/faults/disk-full-program.ts');
afterAll(() => rmSync(dirname(dirname(dirname(program))), { recursive: true }));

test('a full disk gives a clear message and loses nothing, and the store goes on when there is space again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'full-'));
  // A small disk that only this program sees; it needs no rights outside its own namespace.
  const script = 'mount -t tmpfs -o size=6m tmpfs "$1" && exec "$2" "$3" "$1"';
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', folder, process.execPath, program];
  const { stdout, stderr, status } = spawnSync('unshare', args, { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const happened = JSON.parse(stdout) as Record<string, unknown>;
  expect(happened).toMatchObject({ troubles: ['full'], rejected: 'full', afterwards: 15, missing: 0, problems: [] });
  expect(happened.readable).toBeGreaterThan(10);
});
