import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { asked, finished, requestedCall, started } from '../testing/sample-calls.ts';
import { openSqliteStore } from './sqlite/open.ts';
import { keepUp } from './upkeep.ts';

test('a process that stays looks after what others left: their calls, old questions, old records', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'upkeep-'));
  const open = async () => {
    const opened = await openSqliteStore(folder);
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value.store;
  };
  const gone = await open();
  const [old, left, asking] = [requestedCall(), requestedCall({ session: 's2' }), requestedCall({ session: 's2' })];
  for (const call of [old, left, asking]) await gone.submit(call);
  await gone.move(...finished(old));
  await gone.move(...started(left));
  await gone.move(...asked(asking, 'a1', { expiresAt: (await gone.now()) + 1 }));
  await gone.close();

  const store = await open();
  const stop = keepUp(store, { everyMs: 20, retention: () => ({ before: Date.now() - 1000 }) });
  for (let tries = 0; tries < 500 && (await store.call(old.id)) !== null; tries++) await delay(10);
  for (let tries = 0; tries < 500 && (await store.call(asking.id))?.state !== 'expired'; tries++) await delay(10);
  stop();
  expect(await store.call(old.id)).toBe(null);
  expect((await store.call(left.id))?.state).toBe('interrupted');
  expect((await store.call(asking.id))?.state).toBe('expired');
  expect((await store.verify()).problems).toEqual([]);
  await store.close();
  rmSync(folder, { recursive: true });
});
