import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { RunRequest } from '../kernel/world/sandbox.ts';
import { trySandbox } from '../testing/try-sandbox.ts';
import { withinHardLimit } from './request-size.ts';

const path = process.env['PATH'] ?? '';
const at = trySandbox({ path });
afterAll(() => at[Symbol.asyncDispose]());

function run(request: Partial<RunRequest>) {
  return at.sandbox.run({ command: ['true'], workspace: at.workspace, mounts: 'read', tag: 't', ...request });
}

test.each<Partial<RunRequest>>([
  { limits: { memoryBytes: 0 } },
  { limits: { memoryBytes: 1_000 } },
  { limits: { memoryBytes: 1e30 } },
  { limits: { fileBytes: 0 } },
  { limits: { fileBytes: 1e25 } },
  { limits: { openFiles: 5 } },
  { limits: { processes: 0 } },
  { limits: { processes: 1e9 } },
  { limits: { tmpBytes: 0 } },
  { env: { A: 'x'.repeat(200_000) } },
  { env: Object.fromEntries(Array.from({ length: 3_200 }, (_, i) => [`V${i}`, '1'])) },
  { command: ['echo', 'x'.repeat(200_000)] },
])('a request that cannot run is refused as such (%#)', async (request) => {
  expect(await run(request)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
});

test.each<Partial<RunRequest>>([
  { limits: { memoryBytes: 16 * 1024 * 1024 } },
  { limits: { memoryBytes: 2 ** 53 - 1, fileBytes: 2 ** 53 - 1, openFiles: 2 ** 53 - 1, processes: 4_000_000 } },
  { limits: { fileBytes: 64 * 1024, tmpBytes: 4096, openFiles: 32 } },
  { limits: { graceMs: 1e12, timeMs: 1e12 } },
  { env: { A: 'x'.repeat(130_000) } },
  { env: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`V${i}`, '1'])) },
  { command: ['echo', 'x'.repeat(131_000)] },
])('a request at the edge of what can run does, and says nothing of its own (%#)', async (request) => {
  const result = await run(request);
  expect(result).toMatchObject({
    ok: true,
    value: { exitCode: 0, endedBy: null, output: { stderr: { totalBytes: 0 } } },
  });
  if (result.ok) result.value.output.log.dispose();
});

test.each([152, 153, 137])('a command that exits with %i has passed no limit', async (code) => {
  expect((await at.sh(`exit ${code}`)).endedBy).toBe(null);
});

test('closing during the scan waits for the run and leaves nothing', async () => {
  const other = trySandbox({ path });
  for (let i = 0; i < 1_500; i++) mkdirSync(`${other.workspace}/d${i}/e`, { recursive: true });
  await other.sandbox.status();
  const running = other.sandbox.run({ command: ['sleep', '3'], workspace: other.workspace, mounts: 'read', tag: 'x' });
  await new Promise((resolve) => setTimeout(resolve, 4));
  await other.sandbox.close();
  expect(readdirSync(join(other.root, 'state'))).toEqual(['stages']);
  await expect(running).resolves.toBeDefined();
  await other[Symbol.asyncDispose]();
});

test('a limit for the shell is a whole number in digits', () => {
  expect(withinHardLimit(1000.5, 'Max cpu time')).toMatch(/^\d+$/);
  expect(withinHardLimit(2 ** 53 - 1, 'Max open files')).toMatch(/^\d+$/);
});
