import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogEvent } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { asked, finished, requestedCall, started } from '../../testing/sample-calls.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { openSqliteStore } from '../sqlite/open.ts';

let folder: string;
let store: Ledger;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'batch-'));
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  store = opened.value.store;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

test('one write of a group that fails does not take the others with it', async () => {
  const calls = Array.from({ length: 5 }, () => requestedCall());
  await Promise.all(calls.map((call) => store.submit(call)));
  // The second question has an id that is taken.
  const asking = calls.map((call, index) => store.move(...asked(call, index === 3 ? 'a2' : `a${index}`)));
  const settled = await Promise.allSettled(asking);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  const states = await Promise.all(calls.map(({ id }) => store.call(id)));
  expect(states.map((call) => call?.state)).toEqual([
    'awaiting_approval',
    'awaiting_approval',
    'awaiting_approval',
    'requested',
    'awaiting_approval',
  ]);
  expect((await store.events('s1')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect((await store.verify()).problems).toEqual([]);
});

test('a call may be submitted and moved in the same turn', async () => {
  const call = requestedCall();
  const [submitted, start, end] = await Promise.all([
    store.submit(call),
    store.move(...started(call)),
    store.move(...finished(call)),
  ]);
  expect([submitted.event?.seq, start?.seq, end?.seq]).toEqual([1, 2, 3]);
  expect(await store.call(call.id)).toMatchObject({ state: 'succeeded', attempt: 1, durationMs: 1.5 });
});

test('what fails in the turn of its submit leaves the call as it was submitted', async () => {
  const [one, two] = [requestedCall(), requestedCall()];
  const settled = await Promise.allSettled([
    store.submit(one),
    store.submit(two),
    store.move(...asked(one, 'a1')),
    store.move(...asked(two, 'a1')),
  ]);
  expect(settled[3]?.status).toBe('rejected');
  expect((await store.call(one.id))?.state).toBe('awaiting_approval');
  expect((await store.call(two.id))?.state).toBe('requested');
  expect((await store.verify()).problems).toEqual([]);
});

test('sessions and keys with line ends in them are not taken for each other', async () => {
  const calls = [
    requestedCall({ session: 'a', key: 'b\nc' }),
    requestedCall({ session: 'a\nb', key: 'c' }),
    requestedCall({ id: 'x\ny' }),
    requestedCall({ session: 'x', key: 'y' }),
  ];
  const submitted = await Promise.all(calls.map((call) => store.submit(call)));
  expect(submitted.map(({ call }) => call.id)).toEqual(calls.map(({ id }) => id));
  expect(submitted.every(({ event }) => event !== null)).toBe(true);
});

test('a write that cannot be placed in the log fails alone', async () => {
  const calls = [requestedCall(), requestedCall({ requestedAt: Number.NaN }), requestedCall()];
  const settled = await Promise.allSettled(calls.map((call) => store.submit(call)));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await store.events('s1')).map(({ callId }) => callId)).toEqual([calls[0]?.id, calls[2]?.id]);
  expect((await store.verify()).problems).toEqual([]);
});

test('a move in the turn of its submit minds the life of its process, and its end closes what was asked', async () => {
  const [one, two] = [requestedCall(), requestedCall()];
  const [id, move, event] = started(one);
  const [, late] = await Promise.all([store.submit(one), store.move(id, { ...move, epoch: 7 }, event)]);
  expect(late).toBe(null);
  const ended = finished(two, { state: 'cancelled' });
  await Promise.all([store.submit(two), store.move(...asked(two, 'a1')), store.move(...ended)]);
  expect((await store.approvals({})).map(({ state }) => state)).toEqual(['superseded']);
});

test('text that no database can hold is found by the same text', async () => {
  await store.submit(requestedCall({ session: 'a\0b', tool: 't\0' }));
  expect((await store.history({ session: 'a\0b', tool: 't\0' })).items.length).toBe(1);
  expect((await store.verify('a\0b')).problems).toEqual([]);
});

test('a row that cannot be read does not hide the others', async () => {
  const calls = [requestedCall(), requestedCall()];
  for (const call of calls) await store.submit(call);
  const db = openDatabase(join(folder, 'state.db'));
  db.exec(`UPDATE calls SET args = '{bad' WHERE id = '${calls[0]?.id}'`);
  db.close();
  expect((await store.calls({})).items.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
});

test('an event whose listener threw is told again', async () => {
  const told: LogEvent[] = [];
  let left = 1;
  const again = new Promise<void>((resolve) => {
    store.follow((event) => {
      if (left-- > 0) throw new Error('not now');
      told.push(event);
      resolve();
    });
  });
  await store.submit(requestedCall());
  await again;
  expect(told.map(({ seq }) => seq)).toEqual([1]);
});

test('what a follower is told of a write is what the log holds of it, also where that is in a blob', async () => {
  const told: LogEvent[] = [];
  const stop = store.follow((event) => told.push(event));
  const odd = { big: 1n, gone: undefined, date: new Date(0) };
  await Promise.all([odd, { text: 'x'.repeat(100_000) }, odd].map((args) => store.submit(requestedCall({ args }))));
  await store.submit(requestedCall({ args: odd }));
  for (let tries = 0; tries < 500 && told.length < 4; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  stop();
  expect(told).toEqual(await store.log(0, 10));
});

test('a call that is said to be new is refused alone when it is not', async () => {
  const known = requestedCall();
  await store.submit(known);
  const sure = { isNew: true };
  const [again, other] = await Promise.allSettled([store.submit(known, sure), store.submit(requestedCall(), sure)]);
  expect([again.status, other.status]).toEqual(['rejected', 'fulfilled']);
  expect((await store.verify()).problems).toEqual([]);
});

test('a call that ends says the same in its row and in its event, whatever its outcome holds', async () => {
  const call = requestedCall();
  const outcome = { ok: true, text: 'é'.repeat(9000), value: { big: 2n, list: [1, 'x', null] } };
  const [id, move, event] = finished(call, { outcome });
  await Promise.all([store.submit(call), store.move(...started(call)), store.move(id, move, event)]);
  const [, , end] = await store.events(call.session);
  const kept = { ...outcome, value: { big: '2', list: [1, 'x', null] } };
  expect((await store.call(call.id))?.outcome).toEqual(kept);
  expect(end?.data).toEqual({ ...event.data, outcome: kept });
  expect((await store.verify()).problems).toEqual([]);
});
