import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { LiveCalls } from '../../runtime/order/live-calls.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { requestedCall, started } from '../../testing/sample-calls.ts';
import { cancelCall } from './cancel-call.ts';

let folder: string;
let here: Ledger;
let gone: Ledger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cancel-'));
  here = await open();
  gone = await open();
});
afterEach(async () => {
  await here.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<Ledger> {
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value.store;
}

test('a call whose process ended does not run after it was cancelled', async () => {
  const [never, running] = [requestedCall(), requestedCall({ effect: 'idempotent' })];
  for (const call of [never, running]) await gone.submit(call);
  await gone.move(...started(running));
  await gone.close();
  const live = new LiveCalls();
  const cancelled = [never, running].map((call) => cancelCall(here, live, call, 'ann'));
  expect(await Promise.all(cancelled)).toEqual([true, true]);
  expect(await here.call(never.id)).toMatchObject({ state: 'cancelled' });
  expect(await here.call(running.id)).toMatchObject({ state: 'interrupted' });
  expect((await here.calls({ states: ['queued'] })).items).toEqual([]);
});

test('one that waits to be taken over ends at once, and one that is taken over meanwhile is told to stop', async () => {
  const [queued, other] = [requestedCall(), requestedCall()];
  await gone.submit(queued);
  await gone.close();
  await here.recover();
  const live = new LiveCalls();
  expect(await cancelCall(here, live, queued, 'ann')).toBe(true);
  expect(await here.call(queued.id)).toMatchObject({ state: 'cancelled' });

  await here.submit(other);
  const cancelled = cancelCall(here, live, other, 'ann');
  await delay(200);
  const stop = live.begin(other.id);
  expect(await cancelled).toBe(true);
  expect(stop.isStopped).toBe(true);
});
