import type { Verification } from '../kernel/ledger.ts';
import { chainHash } from './chain.ts';
import type { Engine } from './engine.ts';
import { first, rows } from './statement.ts';
import type { SessionTable } from './tables.ts';

const PAGE = 500;
/** After so many the rest would say nothing new. */
const MOST_PROBLEMS = 100;

/** Walks every session's chain, or one; finds events that were changed, removed, added or put elsewhere. */
export async function verifyLog(engine: Engine, only?: string): Promise<Verification> {
  const problems: string[] = [];
  let sessions = 0;
  let events = 0;
  for await (const session of sessionsOf(engine, only)) {
    sessions++;
    events += await verifySession(engine, session, problems);
    if (problems.length >= MOST_PROBLEMS) break;
  }
  if (only === undefined) {
    await verifyWhole(engine, problems);
    problems.push(...(await engine.integrity()).map((line) => `The database is damaged: ${line}.`));
  } else if (sessions === 0) problems.push(`There is no session ${only}.`);
  return { sessions, events, problems };
}

async function* sessionsOf(engine: Engine, only: string | undefined): AsyncGenerator<SessionTable> {
  if (only !== undefined) {
    const found = await engine.read(() => first(engine.sql.session, { session: only }));
    if (found !== undefined) yield found;
    return;
  }
  for (let after = ''; ; ) {
    const page = await engine.read(() => rows(engine.sql.sessionsAfter, { after, limit: PAGE }));
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function verifySession(engine: Engine, session: SessionTable, problems: string[]): Promise<number> {
  const { id, pruned_seq, pruned_hash, last_seq, last_hash } = session;
  const say = (problem: string) => problems.push(`Session ${id}: ${problem}.`);
  let seq = pruned_seq;
  let hash = pruned_hash;
  let pos = 0;
  let count = 0;
  for (;;) {
    const page = await engine.read(() => rows(engine.sql.eventsAfter, { session: id, after: seq, limit: PAGE }));
    for (const event of page) {
      count++;
      if (event.seq !== seq + 1) say(`event ${seq + 1}${event.seq > seq + 2 ? ` to ${event.seq - 1}` : ''} is missing`);
      if (event.pos <= pos) say(`event ${event.seq} is out of order`);
      const expected = chainHash(hash, event);
      if (event.hash !== expected) say(`event ${event.seq} was changed, or what stands before it`);
      if (event.blob !== null && !(await engine.blobs.get(event.blob)).ok)
        say(`the payload of event ${event.seq} (blob ${event.blob}) is missing or damaged`);
      seq = event.seq;
      pos = event.pos;
      // Going on from what is written finds each further change on its own.
      hash = event.hash;
    }
    if (page.length < PAGE) break;
  }
  if (seq < last_seq) say(`event ${seq + 1}${last_seq > seq + 1 ? ` to ${last_seq}` : ''} is missing at the end`);
  else if (seq > last_seq) say(`it has ${seq - last_seq} more events than were recorded`);
  else if (hash !== last_hash) say('its last event is not the one that was recorded last');
  return count;
}

/** A session that is gone as a whole breaks no chain, but the counts no longer add up. */
async function verifyWhole(engine: Engine, problems: string[]): Promise<void> {
  const head = await engine.read(() => first(engine.sql.logHead, undefined));
  const counted = await engine.read(() => first(engine.sql.countEvents, undefined));
  if (head === undefined || counted === undefined) {
    problems.push('The log has no head.');
    return;
  }
  const expected = head.pos - head.pruned;
  const found = Number(counted.count);
  if (found !== expected) problems.push(`The log has ${found} events; ${expected} were recorded and not pruned.`);
}
