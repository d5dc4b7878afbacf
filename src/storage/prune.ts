import type { Pruned, PruneLimits } from '../kernel/ledger.ts';
import type { Unit } from './batch.ts';
import type { Engine } from './engine.ts';
import { first, rows } from './statement.ts';
import { sessionPage } from './statements/log.ts';

const PAGE = 200;
const MOST_ROUNDS = 20;
const EVER = Number.MAX_SAFE_INTEGER;
/** A blob is put before the event that refers to it, so a young one may still be waiting for its event. */
const BLOB_GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Forgets the oldest events, always from the front of a session and never from an unfinished call on. What is cut off
 * leaves its last hash behind, so the chain of the rest is still verified from there.
 */
export async function pruneLog(engine: Engine, { before, maxBytes }: PruneLimits): Promise<Pruned> {
  let events = 0;
  let calls = 0;
  if (before !== undefined) add(await cut(engine, before, EVER));
  if (maxBytes !== undefined) await cutToSize(maxBytes);
  const blobs = await sweep(engine);
  if (events > 0) await engine.shrink();
  return { events, calls, blobs, bytes: await engine.size() };

  async function cutToSize(most: number): Promise<void> {
    let last = Number.POSITIVE_INFINITY;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      await engine.shrink();
      const size = await engine.size();
      // A round that freed nothing shows that the next would only forget more.
      if (size <= most || size >= last) return;
      last = size;
      const [oldest] = await engine.read(() => rows(engine.sql.logAfter, { after: 0, limit: 1 }));
      const head = await engine.read(() => first(engine.sql.logHead, undefined));
      if (oldest === undefined || head === undefined) return;
      const share = Math.min(1, Math.max(0.05, (size - most) / size));
      const upTo = oldest.pos + Math.ceil((head.pos - oldest.pos + 1) * share);
      const done = await cut(engine, EVER, upTo);
      add(done);
      if (done.events === 0) return;
    }
  }

  function add(done: { events: number; calls: number }): void {
    events += done.events;
    calls += done.calls;
  }
}

/** Finished calls go, also those whose events must stay because something unfinished stands before them. */
export async function clearLog(engine: Engine): Promise<void> {
  await cut(engine, EVER, EVER, { everyCall: true });
  await sweep(engine);
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

/** `now` first: what is put while the used ones are read is younger. */
async function sweep(engine: Engine): Promise<number> {
  const now = await engine.now();
  const used = await engine.read(() => rows(engine.sql.usedBlobs, undefined));
  const handles = new Set(used.map(({ hash }) => hash ?? ''));
  return engine.blobs.sweep(handles, now - BLOB_GRACE_MS);
}
