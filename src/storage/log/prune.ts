import type { PruneLimits, PruneReport } from '../../kernel/call/ledger.ts';
import type { Engine } from '../engine.ts';
import { first, rows } from '../sql/statement.ts';
import { sessionPage } from '../statements/log.ts';
import type { StoreWrite } from './batch.ts';

const PAGE = 200;
const MAX_ROUNDS = 20;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** A blob is put before the event that refers to it, so a young one may still be waiting for its event. */
const BLOB_GRACE_MS = 24 * 60 * 60 * 1000;
/** A blob that just lost its last reference may only have to wait for a writer that put the same bytes again. */
const RELEASED_GRACE_MS = 60 * 60 * 1000;
const MIN_SHARE = 0.05;

/**
 * Deletes the oldest events, always from the front of a session and never beyond an unfinished call. The hash of the
 * last deleted event is kept, so the chain of the remaining events is still verified from there.
 */
export async function pruneLog(engine: Engine, { before, maxBytes }: PruneLimits): Promise<PruneReport> {
  let events = 0;
  let calls = 0;
  const held = await usedBlobs(engine);
  const sizes = await engine.blobs.sizes();
  if (before !== undefined) add(await cutSessions(engine, { before, maxPos: NO_LIMIT }));
  if (maxBytes !== undefined) await cutToSize(maxBytes);
  const blobs = await sweep(engine, held);
  if (events > 0) await engine.shrink();
  return { events, calls, blobs, bytes: await size() };

  async function cutToSize(most: number): Promise<void> {
    let last = Number.POSITIVE_INFINITY;
    let smallest = MIN_SHARE;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await engine.shrink();
      const now = await size();
      // A round deleted events and freed no space: another round would only delete more.
      if (now <= most || now >= last) return;
      const [oldest] = await engine.read(() => rows(engine.sql.logAfter, { after: 0, limit: 1 }));
      const head = await engine.read(() => first(engine.sql.logHead, undefined));
      if (oldest === undefined || head === undefined) return;
      const share = Math.min(1, Math.max(smallest, (now - most) / now));
      const upTo = oldest.pos + Math.ceil((head.pos - oldest.pos + 1) * share);
      const done = await cutSessions(engine, { before: NO_LIMIT, maxPos: upTo });
      add(done);
      last = done.events === 0 ? Number.POSITIVE_INFINITY : now;
      // Unfinished calls keep the oldest events; others that may be deleted are further on.
      if (done.events === 0 && share === 1) return;
      smallest = done.events === 0 ? share * 2 : MIN_SHARE;
    }
  }

  /** Counts the log and the blobs it refers to; other blobs are about to be swept. */
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

/** Deletes every finished call, also where its events must stay because an unfinished call precedes them. */
export async function clearLog(engine: Engine): Promise<void> {
  const held = await usedBlobs(engine);
  await cutSessions(engine, { before: NO_LIMIT, maxPos: NO_LIMIT, everyCall: true });
  await sweep(engine, held);
}

interface CutLimits {
  readonly before: number;
  readonly maxPos: number;
  /** Deletes every finished call, also beyond the events that are deleted. */
  readonly everyCall?: boolean;
}

async function cutSessions(engine: Engine, limits: CutLimits) {
  const total = { events: 0, calls: 0 };
  for (let after: string | undefined; ; ) {
    const page = await engine.read(() => sessionPage(engine.sql, after, PAGE));
    const done = await Promise.all(page.map(({ id }) => engine.write(cutSession(id, limits))));
    for (const { events, calls } of done) {
      total.events += events;
      total.calls += calls;
    }
    const last = page.at(-1);
    if (last === undefined) return total;
    after = last.id;
  }
}

function cutSession(
  session: string,
  { before, maxPos, everyCall = false }: CutLimits,
): StoreWrite<{ events: number; calls: number }> {
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
    const upTo = everyCall ? NO_LIMIT : (last?.seq ?? 0);
    const calls = yield* rows(sql.deleteCalls, { session, upTo, before });
    for (const { id } of calls) yield* first(sql.deleteApprovals, { call: id });
    return { events, calls: calls.length };
  };
}

/** `held` are the blobs in use before the cut. The clock is read first: blobs put during the sweep count as younger. */
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
