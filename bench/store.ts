import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Ledger } from '../src/kernel/call/ledger.ts';
import type { Store } from '../src/kernel/ports.ts';
import { ok, type Result } from '../src/kernel/result.ts';
import { defineTool } from '../src/kernel/tool/tool.ts';
import { createToolwright } from '../src/runtime/create-toolwright.ts';
import { MemoryStore } from '../src/runtime/memory/memory-store.ts';
import { openPostgresStore } from '../src/storage/postgres/open.ts';
import { openDatabase } from '../src/storage/sqlite/driver.ts';
import { openSqliteStore } from '../src/storage/sqlite/open.ts';
import type { OpenStore } from '../src/storage/store-and-blobs.ts';
import { finished, requestedCall, started } from '../src/testing/sample-calls.ts';
import { startPostgres } from '../test/postgres-server.ts';
import {
  atMost,
  type Benchmark,
  type Measurement,
  median,
  nanoseconds,
  reported,
  timesLess,
  timesTheLimit,
} from './benchmark.ts';
import { HandwrittenStore } from './programs/store.handwritten.ts';
import type { Reading } from './programs/store.reader.ts';

const CALLS = 5000;
const SLOW_CALLS = 1000;
const AT_ONCE = 100;
const SESSIONS = 20;
const ROUNDS = 5;

export const benchmark: Benchmark = {
  about: 'The durable store: the state machine of calls, one call alone, a log of a million events, other processes.',
  async run() {
    return [...(await stateMachine()), ...(await oneCall()), ...(await millionEvents()), await heardAcross()];
  },
};

/** Three durable transitions a call, hash chain and projections on, 100 calls at once; by turns, so load hits all. */
async function stateMachine(): Promise<Measurement[]> {
  const ours: number[] = [];
  const each: number[] = [];
  const group: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await inFolder(async (folder) => perCall(await opened(openSqliteStore(folder)), CALLS)));
    each.push(await inFolder((folder) => byHand(folder, true, SLOW_CALLS)));
    group.push(await inFolder((folder) => byHand(folder, false, CALLS)));
  }
  const us = median(ours);
  return [
    timesLess('a call, against one transaction per transition', us, median(each), 'µs', 4),
    timesTheLimit('a call, against the statements prepared by hand', us, median(group), 'µs', 2),
    reported('a call on PostgreSQL, 100 at once', await onPostgres(), 'µs'),
  ];
}

async function onPostgres(): Promise<number> {
  const server = await startPostgres();
  try {
    return await perCall(await opened(openPostgresStore(server.url)), SLOW_CALLS);
  } finally {
    await server.stop();
  }
}

async function perCall(store: Ledger, count: number): Promise<number> {
  const each = await microsecondsEach(count, async (index) => {
    const call = requestedCall({ session: `s${index % SESSIONS}` });
    await store.submit(call);
    await store.move(...started(call));
    await store.move(...finished(call));
  });
  await store.close();
  return each;
}

async function byHand(folder: string, each: boolean, count: number): Promise<number> {
  await (await opened(openSqliteStore(folder))).close();
  const db = openDatabase(join(folder, 'state.db'));
  db.exec('PRAGMA synchronous = FULL');
  const machine = new HandwrittenStore(db, { each });
  const time = await microsecondsEach(count, async (index) => {
    const call = requestedCall({ session: `s${index % SESSIONS}` });
    await machine.transition('submit', call);
    await machine.transition('start', call);
    await machine.transition('finish', call);
  });
  db.close();
  return time;
}

async function microsecondsEach(count: number, one: (index: number) => Promise<void>): Promise<number> {
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await one(next++);
    }),
  );
  return ((performance.now() - start) * 1000) / count;
}

/** The cost of durability for a call on its own: three commits and their syncs. */
async function oneCall(): Promise<Measurement[]> {
  const hello = defineTool({
    name: 'hello',
    description: 'Says hello.',
    input: z.object({}),
    access: () => [],
    run: () => ok('hello'),
  });
  const time = async (store: Store) => {
    const app = createToolwright({ tools: [hello], store });
    return (await nanoseconds(100, 7, () => app.call('hello'))) / 1000;
  };
  const memory = await time(new MemoryStore());
  const durable = await inFolder(async (folder) => {
    const store = await opened(openSqliteStore(folder));
    const each = await time(store);
    await store.close();
    return each;
  });
  return [reported('one durable call alone, against one in memory', durable, 'µs', memory)];
}

async function millionEvents(): Promise<Measurement[]> {
  const few = await inFolder(async (folder) => readings(folder, 10_000, 100));
  const many = await inFolder(async (folder) => readings(folder, 1_000_000, 10_000));
  const ms = (all: Reading[]) => median(all.map((one) => one.ms));
  const what = 'reopening and reading the last page, a million events against ten thousand';
  return [
    timesTheLimit(what, ms(many), ms(few), 'ms', 2),
    atMost(
      'memory of that process, with a million events',
      Math.max(...many.map(({ megabytes }) => megabytes)),
      'MB',
      200,
    ),
  ];
}

/** A process of its own each time: nothing is warm but the system's cache. */
async function readings(folder: string, events: number, sessions: number): Promise<Reading[]> {
  await fill(folder, events, sessions);
  const all: Reading[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const child = fork(join(import.meta.dirname, 'programs/store.reader.ts'), [folder]);
    all.push(await new Promise<Reading>((resolve) => child.once('message', resolve as (reading: unknown) => void)));
  }
  return all;
}

/** Rows as the store writes them, but made by the database itself: this is about reading. The chain is not filled in. */
async function fill(folder: string, events: number, sessions: number): Promise<void> {
  await (await opened(openSqliteStore(folder))).close();
  const db = openDatabase(join(folder, 'state.db'));
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <`;
  db.exec(`PRAGMA synchronous = OFF; BEGIN;
    ${numbers} ${events}) INSERT INTO events SELECT i, 's' || (i % ${sessions}), i / ${sessions} + 1, 'call.started', 1,
      'c' || (i / 3), 1700000000000 + i, '{"tool":"read_file","args":"' || hex(randomblob(190)) || '"}', NULL,
      hex(randomblob(32)) FROM n;
    ${numbers} ${events / 3}) INSERT INTO calls SELECT 'c' || i, i * 3, 's' || (i * 3 % ${sessions}), 1, NULL, 'read_file',
      NULL, NULL, 'pure', 'succeeded', '{"path":"a.txt"}', NULL, '{"ok":true,"text":"hello"}', NULL, NULL, 1700000000000 + i,
      1, 2, 3, 1, 'n0', 1 FROM n;
    ${numbers} ${sessions}) INSERT INTO sessions SELECT 's' || (i - 1), 1, 1, ${events / sessions}, '', 0, '' FROM n;
    UPDATE log_head SET pos = ${events}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  db.close();
}

async function heardAcross(): Promise<Measurement> {
  return inFolder(async (folder) => {
    const [speaker, listener] = [await opened(openSqliteStore(folder)), await opened(openSqliteStore(folder))];
    let heard: (() => void) | undefined;
    const stop = listener.follow(() => heard?.());
    // Waiting to hear something keeps no process alive.
    const awake = setInterval(() => {}, 1000);
    const delays: number[] = [];
    for (let round = 0; round < 30; round++) {
      const arrived = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await speaker.submit(requestedCall());
      const start = performance.now();
      await arrived;
      delays.push(performance.now() - start);
    }
    clearInterval(awake);
    stop();
    await listener.close();
    await speaker.close();
    return atMost('until another connection hears of an event, worst of 30', Math.max(...delays), 'ms', 100);
  });
}

async function opened(opening: Promise<Result<OpenStore>>): Promise<Ledger> {
  const result = await opening;
  if (!result.ok) throw new Error(result.error.message);
  return result.value.store;
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-store-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
