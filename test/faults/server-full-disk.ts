import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillDisk, startOnSmallDisk } from './server-process.ts';

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
  const folder = mkdtempSync(join(tmpdir(), 'full-server-'));
  const server = await startOnSmallDisk({ disk: folder, workspace: join(folder, 'project') }, folder);
  try {
    const call = async (path: string, size: number): Promise<Answer> =>
      server.post('/v1/calls', { tool: 'write_file', args: { path, content: 'x'.repeat(size) } });
    const before = await call('before.txt', 10);
    const ballast = join(server.disk, 'ballast');
    fillDisk(ballast);
    const whileFull: Answer[] = [];
    for (let count = 0; count < 20; count++) whileFull.push(await call(`full-${count}.txt`, 100_000));
    const healthy = (await server.fetch('/v1/health')).status === 200;
    rmSync(ballast);
    const after = await call('after.txt', 10);
    const history = (await (await server.fetch('/v1/history?limit=500')).json()) as {
      items: { state: string }[];
    };
    const succeeded = history.items.filter(({ state }) => state === 'succeeded').length;
    return { before, whileFull, healthy, after, succeeded };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
