import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { createToolwright } from '../../runtime/create-toolwright.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { requestedCall } from '../../testing/sample-calls.ts';
import type { App } from '../open-app.ts';
import { takeOverCalls } from './take-over-calls.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, isLevelEnabled: () => false };

async function open(folder: string): Promise<Ledger> {
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value.store;
}

test('calls that are found together are taken over with one look, and others do not wait for them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'take-over-'));
  const [gone, other, ledger] = [await open(folder), await open(folder), await open(folder)];
  const data = { workspace: 'w', title: null, agent: null, by: null };
  await gone.note('s1', { type: 'session.created', callId: null, at: 1, data });
  for (let index = 0; index < 30; index++) await gone.submit(requestedCall({ tool: 'wait', args: {} }));
  await gone.close();

  let looks = 0;
  const calls = ledger.calls.bind(ledger);
  ledger.calls = (query) => {
    looks++;
    return calls(query);
  };
  const ends: (() => void)[] = [];
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    access: () => [],
    run: () => new Promise<Result<string>>((resolve) => ends.push(() => resolve(ok('done')))),
  });
  const { executor, context } = createToolwright({ tools: [wait], store: ledger });
  const stop = takeOverCalls(new Map([['w', { executor, context } as unknown as App]]), { ledger, log: silent });
  await expect.poll(() => ends.length, { timeout: 20_000 }).toBe(30);
  expect(looks).toBeLessThan(3);

  // As one that read of a call before somebody took it.
  const second = createToolwright({ tools: [wait], store: other });
  const [running] = (await other.calls({ states: ['running'] })).items;
  other.calls = () => ({ items: running === undefined ? [] : [{ ...running, state: 'queued' }], next: null });
  expect(await second.executor.resume(() => second.context)).toMatchObject([
    { ok: false, callId: running?.id, error: { code: 'CONFLICT' } },
  ]);
  for (const end of ends) end();
  await expect.poll(async () => (await calls({ states: ['succeeded'] })).items.length).toBe(30);
  stop();
  await Promise.all([other.close(), ledger.close()]);
  rmSync(folder, { recursive: true });
});
