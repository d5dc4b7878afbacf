import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test, vi } from 'vitest';
import { createCliFixture } from '../../src/testing/cli-fixture.ts';

const root = join(import.meta.dirname, '../..');
/** One process, so that to end it ends the server. */
const program = ['--import', 'tsx', join(root, 'src/cli/main.ts')];

test('a server whose log nobody reads any more goes on', { timeout: 120_000 }, async () => {
  using place = createCliFixture(process.env['PATH']);
  const args = [...program, 'start', '--json', '--port', '0', '-w', place.workspace];
  const child = spawn(process.execPath, args, { cwd: root, env: place.env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const out: string[] = [];
    createInterface(child.stdout).on('line', (line) => out.push(line));
    await vi.waitUntil(() => out.length > 0, 60_000);
    child.stderr.destroy();
    const { url, token } = JSON.parse(out[0] ?? '') as { url: string; token: string };
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ tool: 'read_file', args: { path: 'gone.txt' } });
    for (let call = 0; call < 3; call++) {
      expect((await fetch(`${url}/v1/calls`, { method: 'POST', headers, body })).status).toBe(200);
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});

test('a started server logs what fails on its error stream, and nothing of it on its output', {
  timeout: 120_000,
}, async () => {
  using place = createCliFixture(process.env['PATH']);
  const args = [...program, 'start', '--json', '--port', '0', '-w', place.workspace];
  const child = spawn(process.execPath, args, { cwd: root, env: place.env });
  try {
    const [out, err] = [[] as string[], [] as string[]];
    createInterface(child.stdout).on('line', (line) => out.push(line));
    createInterface(child.stderr).on('line', (line) => err.push(line));
    await vi.waitUntil(() => out.length > 0, 60_000);
    const { url, token } = JSON.parse(out[0] ?? '') as { url: string; token: string };
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ tool: 'read_file', args: { path: 'gone.txt' } });
    await fetch(`${url}/v1/calls`, { method: 'POST', headers, body });
    await vi.waitUntil(() => err.some((line) => line.includes('Tool read_file failed')), 60_000);
    expect(out).toHaveLength(1);
    expect(err.join('\n')).not.toContain(token);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
});
