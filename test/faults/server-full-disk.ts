import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../../scripts/build.mjs';

const root = join(import.meta.dirname, '../..');

interface Answer {
  readonly status: number;
  readonly body: { state?: string; code?: string; detail?: string };
}

export interface FullDiskReport {
  readonly before: Answer;
  /** Twenty calls while nothing fits any more. */
  readonly whileFull: readonly Answer[];
  readonly healthy: boolean;
  /** When there is space again. */
  readonly after: Answer;
  /** Calls that the history has as done. */
  readonly succeeded: number;
}

/** Fills the disk under a running server, asks it for calls, and makes space again. */
export async function fillServersDisk(): Promise<FullDiskReport> {
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
    const call = async (path: string, size: number): Promise<Answer> => {
      const body = JSON.stringify({ tool: 'write_file', args: { path, content: 'x'.repeat(size) } });
      const answer = await fetch(`${url}/v1/calls`, { method: 'POST', headers, body });
      return { status: answer.status, body: (await answer.json()) as Answer['body'] };
    };
    const before = await call('before.txt', 10);
    const ballast = join(`/proc/${child.pid}/root${folder}`, 'ballast');
    fill(ballast);
    const whileFull: Answer[] = [];
    for (let count = 0; count < 20; count++) whileFull.push(await call(`full-${count}.txt`, 100_000));
    const healthy = (await fetch(`${url}/v1/health`, { headers })).status === 200;
    rmSync(ballast);
    const after = await call('after.txt', 10);
    const history = (await (await fetch(`${url}/v1/history?limit=500`, { headers })).json()) as {
      items: { state: string }[];
    };
    const succeeded = history.items.filter(({ state }) => state === 'succeeded').length;
    return { before, whileFull, healthy, after, succeeded };
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}

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
