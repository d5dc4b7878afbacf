import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { build } from '../../scripts/build.mjs';

const root = join(import.meta.dirname, '../..');

test('a server whose disk is full says so, stays up, and goes on when there is space again', async () => {
  build();
  const folder = mkdtempSync(join(tmpdir(), 'full-server-'));
  // A small disk that only the server sees; it needs no rights outside its own namespace.
  const script =
    'mount -t tmpfs -o size=12m tmpfs "$1" && mkdir "$1/project" && exec "$2" "$3" start --json --port 0 -w "$1/project"';
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', folder];
  const child = spawn('unshare', [...args, process.execPath, join(root, 'dist/cli.js')], {
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const { url, token } = await new Promise<{ url: string; token: string }>((resolve, reject) => {
      child.stdout.once('data', (line) => resolve(JSON.parse(String(line))));
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const call = async (path: string, size: number) => {
      const body = JSON.stringify({ tool: 'write_file', args: { path, content: 'x'.repeat(size) } });
      const answer = await fetch(`${url}/v1/calls`, { method: 'POST', headers, body });
      return { status: answer.status, body: (await answer.json()) as { state?: string; code?: string } };
    };
    expect(await call('before.txt', 10)).toMatchObject({ status: 200, body: { state: 'succeeded' } });
    const disk = `/proc/${child.pid}/root${folder}`;
    const ballast = join(disk, 'ballast');
    fill(ballast);
    const refused = [];
    for (let count = 0; count < 20; count++) refused.push(await call(`full-${count}.txt`, 100_000));
    const failed = refused.filter(({ body }) => body.state !== 'succeeded');
    expect(failed.length).toBeGreaterThan(10);
    expect(failed.every(({ status, body }) => status >= 500 || body.state === 'failed')).toBe(true);
    const health = await fetch(`${url}/v1/health`, { headers });
    expect(health.status).toBe(200);
    rmSync(ballast);
    expect(await call('after.txt', 10)).toMatchObject({ status: 200, body: { state: 'succeeded' } });
    const history = (await (await fetch(`${url}/v1/history?limit=500`, { headers })).json()) as {
      items: { state: string }[];
    };
    expect(history.items.filter(({ state }) => state === 'succeeded').length).toBeGreaterThanOrEqual(2);
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

/** Until nothing more fits. */
function fill(path: string): void {
  for (const size of [1_000_000, 10_000, 1000]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Full for this size: try a smaller one.
    }
  }
}
