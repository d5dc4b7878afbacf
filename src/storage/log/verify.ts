import type { Progress, Verification } from '../../kernel/call/ledger.ts';
import type { Engine } from '../engine.ts';
import { first, rows } from '../sql/statement.ts';
import type { SessionTable } from '../sql/tables.ts';
import { sessionPage } from '../statements/log.ts';
import { chainHash } from './event-rows.ts';
import { addFacts, type SessionFacts } from './told-calls.ts';
import { verifyProjections } from './verify-projections.ts';
import { verifySettings } from './verify-settings.ts';

const PAGE = 500;
/** More problems would say nothing new. */
const MAX_PROBLEMS = 100;
const MAX_TRIES = 5;

/**
 * Walks the hash chain of every session, or of one; finds events that were changed, removed, added or moved, and rows of calls,
 * questions, rules and tools that say something else than the events.
 */
export async function verifyLog(engine: Engine, only?: string, onProgress?: Progress): Promise<Verification> {
  const problems: string[] = [];
  let sessions = 0;
  let events = 0;
  const head = await engine.read(() => first(engine.sql.logHead, undefined));
  const all = (head?.pos ?? 0) - (head?.pruned ?? 0);
  for await (const session of sessionsOf(engine, only)) {
    sessions++;
    const of = only === undefined ? all : session.last_seq - session.pruned_seq;
    events += await verifySession(engine, session, { problems, walked: (count) => onProgress?.(events + count, of) });
    if (problems.length >= MAX_PROBLEMS) break;
  }
  if (only === undefined) {
    await verifyTotals(engine, problems);
    problems.push(...(await verifySettings(engine)));
    problems.push(...(await engine.integrity()).map((line) => `The database is damaged: ${line}.`));
  } else if (sessions === 0) problems.push(`There is no session ${only}.`);
  return { sessions, events, problems };
}

interface VerifyReport {
  readonly problems: string[];
  /** Reports how many events of the session were checked so far. */
  walked(count: number): void;
}

async function* sessionsOf(engine: Engine, only: string | undefined): AsyncGenerator<SessionTable> {
  if (only !== undefined) {
    const found = await engine.read(() => first(engine.sql.session, { session: only }));
    if (found !== undefined) yield found;
    return;
  }
  for (let after: string | undefined; ; ) {
    const page = await engine.read(() => sessionPage(engine.sql, after, PAGE));
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** Walks the session again when problems may come from a prune that ran meanwhile. */
async function verifySession(
  engine: Engine,
  session: SessionTable,
  { problems, walked }: VerifyReport,
): Promise<number> {
  for (let seen = session, tries = 1; ; tries++) {
    const found: string[] = [];
    const count = await walkSession(engine, seen, { problems: found, walked });
    const now =
      found.length === 0 ? undefined : await engine.read(() => first(engine.sql.session, { session: seen.id }));
    if (now === undefined || now.pruned_seq === seen.pruned_seq || tries === MAX_TRIES) {
      problems.push(...found.map((problem) => `Session ${seen.id}: ${problem}.`));
      return count;
    }
    seen = now;
  }
}

/** Walks up to the last event named by the session row, which was read first: later events are still being written. */
async function walkSession(engine: Engine, session: SessionTable, { problems, walked }: VerifyReport): Promise<number> {
  const { id, pruned_seq, pruned_hash, last_seq, last_hash } = session;
  const say = (problem: string) => problems.push(problem);
  let seq = pruned_seq;
  let hash = pruned_hash;
  let pos = 0;
  let count = 0;
  const facts: SessionFacts = { calls: new Map(), approvals: new Map() };
  walk: for (;;) {
    const page = await engine.read(() => rows(engine.sql.eventsAfter, { session: id, after: seq, limit: PAGE }));
    for (const event of page) {
      if (event.seq > last_seq) break walk;
      count++;
      if (event.seq !== seq + 1) say(`event ${seq + 1}${event.seq > seq + 2 ? ` to ${event.seq - 1}` : ''} is missing`);
      if (event.pos <= pos) say(`event ${event.seq} is out of order`);
      const expected = chainHash(hash, event);
      if (event.hash !== expected) say(`event ${event.seq} or one before it was changed`);
      if (event.blob !== null && !(await engine.blobs.get(event.blob)).ok)
        say(`the payload of event ${event.seq} (blob ${event.blob}) is missing or damaged`);
      await addFacts(engine, facts, event);
      seq = event.seq;
      pos = event.pos;
      // Continuing from the stored hash finds each further change separately.
      hash = event.hash;
    }
    walked(count);
    if (page.length < PAGE) break;
  }
  if (seq < last_seq) say(`event ${seq + 1}${last_seq > seq + 1 ? ` to ${last_seq}` : ''} is missing at the end`);
  else if (hash !== last_hash) say('its last event is not the one that was recorded last');
  await verifyEnd(engine, id, problems);
  await verifyCalls(engine, id, problems);
  problems.push(...(await verifyProjections(engine, session, facts)));
  return count;
}

/** Reads the newest event before the head, so a head behind that event is not caused by a concurrent writer. */
async function verifyEnd(engine: Engine, session: string, problems: string[]): Promise<void> {
  const newest = await engine.read(() => first(engine.sql.newestEvent, { session }));
  const head = await engine.read(() => first(engine.sql.session, { session }));
  const more = (newest?.seq ?? 0) - (head?.last_seq ?? 0);
  if (more > 0) problems.push(`it has ${more} more events than were recorded`);
}

async function verifyCalls(engine: Engine, session: string, problems: string[]): Promise<void> {
  for (let after = 0; ; ) {
    const page = await engine.read(() => rows(engine.sql.callBlobs, { session, after, limit: PAGE }));
    for (const { id, args_blob, outcome_blob, artifact } of page) {
      for (const [what, blob] of Object.entries({ arguments: args_blob, outcome: outcome_blob, artifact })) {
        if (blob !== null && !(await engine.blobs.get(blob)).ok)
          problems.push(`the ${what} of call ${id} (blob ${blob}) is missing or damaged`);
      }
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.pos;
  }
}

/** Compares totals: a session that was deleted whole, or only its row, breaks no chain. */
async function verifyTotals(engine: Engine, problems: string[]): Promise<void> {
  for (const { session, count } of await engine.read(() => rows(engine.sql.strayEvents, { limit: MAX_PROBLEMS }))) {
    problems.push(`Session ${session}: its row is missing, so ${Number(count)} events of it were not checked.`);
  }
  const head = await engine.read(() => first(engine.sql.headAndCount, undefined));
  if (head === undefined) {
    problems.push('The log has no head row.');
    return;
  }
  const expected = head.pos - head.pruned;
  const found = Number(head.count);
  if (found !== expected) problems.push(`The log has ${found} events; ${expected} were recorded and not pruned.`);
}
