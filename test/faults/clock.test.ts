import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../src/kernel/ports.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { AT, asked, decided, requestedCall } from '../../src/testing/sample-calls.ts';

const HOUR = 3_600_000;

/** A machine whose wall clock can be set, and whose time passes only when the test says so. */
class SettableClock implements Clock {
  wall = AT;
  passed = 0;
  slept = 0;
  now = () => this.wall;
  monotonic = () => this.passed;
  pass(ms: number): void {
    this.wall += ms;
    this.passed += ms;
  }
  /** Passes for the machine, and not for the processes on it. */
  sleep(ms: number): void {
    this.wall += ms;
    this.slept += ms;
  }
  machine = { boot: 'b1', uptime: () => 1000 + this.passed + this.slept };
}

let folder: string;
let clock: SettableClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clock-'));
  clock = new SettableClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

async function opened() {
  const result = await openSqliteStore(folder, { clock, machine: clock.machine });
  if (!result.ok) throw new Error(result.error.message);
  return result.value.store;
}

test.each([
  ['forward', HOUR],
  ['back', -HOUR],
])('the wall clock is set an hour %s: nothing expires falsely, in this process or the next', async (_way, jump) => {
  const store = await opened();
  const call = requestedCall();
  await store.submit(call);
  await store.move(...asked(call, 'a1', { expiresAt: (await store.now()) + 60_000 }));
  clock.wall += jump;
  clock.pass(59_000);
  expect(await store.expire()).toEqual([]);
  const next = await opened();
  expect(await next.now()).toBe(AT + 59_000);
  expect(await next.expire()).toEqual([]);
  clock.pass(1000);
  const events = await next.expire();
  expect(events.map(({ type, at }) => [type, at])).toEqual([
    ['approval.decided', clock.wall],
    ['call.finished', clock.wall],
  ]);
  // No difference of two clocks passes for a duration.
  expect(events[1]).toMatchObject({ data: { durationMs: null } });
  expect(await store.decide(decided(call, 'a1'))).toBe(null);
  await store.close();
  await next.close();
});

test('after a restart of the machine the wall clock is believed again', async () => {
  await (await opened()).close();
  clock.wall += HOUR;
  const result = await openSqliteStore(folder, { clock, machine: { boot: 'b2', uptime: () => 5 } });
  if (!result.ok) throw new Error(result.error.message);
  expect(await result.value.store.now()).toBe(AT + HOUR);
  await result.value.store.close();
});

test('after the machine slept, a process that ran before and a new one tell the same time', async () => {
  const store = await opened();
  clock.sleep(8 * HOUR);
  const next = await opened();
  expect(await store.now()).toBe(AT + 8 * HOUR);
  expect(await next.now()).toBe(AT + 8 * HOUR);
  const call = requestedCall();
  await store.submit(call);
  await store.move(...asked(call, 'a1', { expiresAt: (await store.now()) + 60_000 }));
  expect(await next.expire()).toEqual([]);
  await store.close();
  await next.close();
});

test.each([2 * HOUR, 72 * HOUR, -72 * HOUR])(
  'a blob put just now is not swept when the clock is set by %i ms',
  async (jump) => {
    const result = await openSqliteStore(folder, { clock, machine: clock.machine });
    if (!result.ok) throw new Error(result.error.message);
    const { store, blobs } = result.value;
    const before = await blobs.put(Buffer.from('before'));
    clock.wall += jump;
    const after = await blobs.put(Buffer.from('after'));
    expect((await store.prune({ before: 1 })).blobs).toBe(0);
    expect([(await blobs.get(before)).ok, (await blobs.get(after)).ok]).toEqual([true, true]);
    clock.pass(25 * HOUR);
    expect((await store.prune({ before: 1 })).blobs).toBe(2);
    await store.close();
  },
);
