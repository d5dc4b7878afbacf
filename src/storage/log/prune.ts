import type { Pruned, PruneLimits } from '../../kernel/call/ledger.ts';
import type { Unit } from './batch.ts';
import type { Engine } from '../engine.ts';
import { first, rows } from '../sql/statement.ts';
import { sessionPage } from '../statements/log.ts';

const PAGE = 200;
const MOST_ROUNDS = 20;
const EVER = Number.MAX_SAFE_INTEGER;
/** A blob is put before the event that refers to it, so a young one may still be waiting for its event. */
const BLOB_GRACE_MS = 24 * 60 * 60 * 1000;
/** What was referred to until now, on the other hand, waits only for somebody who put the same bytes again just now. */
const RELEASED_GRACE_MS = 60 * 60 * 1000;
const SMALLEST_SHARE = 0.05;

/**
 * Forgets the oldest events, always from the front of a session and never from an unfinished call on. What is cut off
 * leaves its last hash behind, so the chain of the rest is still verified from there.
 */
export async function pruneLog(engine: Engine, { before, maxBytes }: PruneLimits): Promise<Pruned> {
  let events = 0;
  let calls = 0;
  const held = await usedBlobs(engine);
  const sizes = await engine.blobs.sizes();
  if (before !== undefined) add(await cut(engine, before, EVER));
  if (maxBytes !== undefined) await cutToSize(maxBytes);
  const blobs = await sweep(engine, held);
  if (events > 0) await engine.shrink();
  return { events, calls, blobs, bytes: await size() };

  async function cutToSize(most: number): Promise<void> {
    let last = Number.POSITIVE_INFINITY;
    let smallest = SMALLEST_SHARE;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await engine.shrink();
      const now = await size();
      // A round that forgot something and freed nothing shows that the next would only forget more.
      if (now <= most || now >= last) return;
      const [oldest] = await engine.read(() => rows(engine.sql.logAfter, { after: 0, limit: 1 }));
      const head = await engine.read(() => first(engine.sql.logHead, undefined));
      if (oldest === undefined || head === undefined) return;
      const share = Math.min(1, Math.max(smallest, (now - most) / now));
      const upTo = oldest.pos + Math.ceil((head.pos - oldest.pos + 1) * share);
      const done = await cut(engine, EVER, upTo);
      add(done);
      last = done.events === 0 ? Number.POSITIVE_INFINITY : now;
      // Unfinished calls hold the oldest events; what may go is further on.
      if (done.events === 0 && share === 1) return;
      smallest = done.events === 0 ? share * 2 : SMALLEST_SHARE;
    }
  }

  /** With the blobs that are referred to: the others are on their way out already. */
  async function size(): Promise<number> {
    let bytes = await engine.size();
    for (const handle of await usedBlobs(engine)) bytes += sizes.get(handle) ?? 0;
    return bytes;
  }

  function add(done: { events: number; calls: number }): void {
    events += done.events;
    calls += done.calls;
  }
}

/** Finished calls go, also those whose events must stay because something unfinished stands before them. */
export async function clearLog(engine: Engine): Promise<void> {
  const held = await usedBlobs(engine);
  await cut(engine, EVER, EVER, { everyCall: true });
  await sweep(engine, held);
}

async function cut(engine: Engine, before: number, maxPos: number, { everyCall = false } = {}) {
  const total = { events: 0, calls: 0 };
  for (let after: string | undefined; ; ) {
    const page = await engine.read(() => sessionPage(engine.sql, after, PAGE));
    const done = await Promise.all(page.map(({ id }) => engine.write(cutUnit(id, before, maxPos, everyCall))));
    for (const { events, calls } of done) {
      total.events += events;
      total.calls += calls;
    }
    const last = page.at(-1);
    if (last === undefined) return total;
    after = last.id;
  }
}

function cutUnit(
  session: string,
  before: number,
  maxPos: number,
  everyCall: boolean,
): Unit<{ events: number; calls: number }> {
  return function* ({ sql }) {
    const last = yield* first(sql.prunableUpTo, { session, before, maxPos });
    let events = 0;
    if (last !== undefined) {
      const counted = yield* first(sql.countEventsUpTo, { session, upTo: last.seq });
      events = Number(counted?.count ?? 0);
      yield* first(sql.deleteEvents, { session, upTo: last.seq });
      yield* first(sql.setPruned, { session, seq: last.seq, hash: last.hash });
      yield* first(sql.countPruned, { count: events });
    }
    if (last === undefined && !everyCall) return { events: 0, calls: 0 };
    const upTo = everyCall ? EVER : (last?.seq ?? 0);
    const calls = yield* rows(sql.deleteCalls, { session, upTo, before });
    for (const { id } of calls) yield* first(sql.deleteApprovals, { call: id });
    return { events, calls: calls.length };
  };
}

/** `now` first: what is put while the used ones are read is younger. `held` are those that were used before. */
async function sweep(engine: Engine, held: ReadonlySet<string>): Promise<number> {
  const now = await engine.now();
  const used = await usedBlobs(engine);
  const released = [...held].filter((handle) => !used.has(handle));
  const removed = await engine.blobs.remove(released, now - RELEASED_GRACE_MS);
  return removed + (await engine.blobs.sweep(used, now - BLOB_GRACE_MS));
}

async function usedBlobs(engine: Engine): Promise<ReadonlySet<string>> {
  const used = await engine.read(() => rows(engine.sql.usedBlobs, undefined));
  return new Set(used.map(({ hash }) => hash ?? ''));
}
