import type { Engine } from '../engine.ts';
import { rows } from '../sql/statement.ts';
import type { ApprovalTable, Tables } from '../sql/tables.ts';
import type { ToldCall } from '../statements/calls.ts';
import { fromPayload, type Payload } from './payload.ts';
import { type CallFacts, digestOf, type SessionFacts } from './told-calls.ts';

const PAGE = 500;

/** Problems by the call that they are about. */
type Problems = Map<string, string[]>;

interface Comparison {
  readonly facts: SessionFacts;
  readonly found: Problems;
}

type VerifiedSession = Pick<Tables['sessions'], 'id' | 'pruned_seq' | 'last_seq'>;

/** Compares the rows of a session's calls and questions with its events after `pruned_seq` and up to `last_seq`. */
export async function verifyProjections(
  engine: Engine,
  session: VerifiedSession,
  facts: SessionFacts,
): Promise<string[]> {
  const found: Problems = new Map();
  await compareCalls(engine, session, { facts, found });
  await compareApprovals(engine, session, { facts, found });
  if (found.size > 0) await dropNewer(engine, { session: session.id, seq: session.last_seq }, found);
  return [...found.values()].flat();
}

async function compareCalls(
  engine: Engine,
  { id: session, pruned_seq, last_seq }: VerifiedSession,
  { facts: { calls }, found }: Comparison,
): Promise<void> {
  const missing = new Set(calls.keys());
  for (let after = 0; ; ) {
    const page = await engine.read(() => rows(engine.sql.callRows, { session, after, limit: PAGE }));
    for (const row of page) {
      missing.delete(row.id);
      if (row.first_seq <= pruned_seq || row.first_seq > last_seq) continue;
      const difference = await differenceOf(engine, row, calls.get(row.id));
      if (difference !== null) note(found, row.id, `call ${row.id} ${difference}`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.pos;
  }
  for (const id of missing) note(found, id, `call ${id} is in the log, and not in the table of calls`);
}

/** Columns that hold a value of their own, and how they are called when they differ. */
const NAMED = {
  agent: 'another agent',
  requested_at: 'another time',
  started_at: 'another start',
  finished_at: 'another time of its end',
  duration_us: 'another duration',
  attempt: 'another number of attempts',
  artifact: 'another artifact',
} as const satisfies Partial<Record<keyof CallFacts['row'], string>>;

async function differenceOf(engine: Engine, row: ToldCall, facts: CallFacts | undefined): Promise<string | null> {
  if (facts === undefined || facts.row.first_seq !== row.first_seq)
    return `is in the table of calls, and event ${row.first_seq} does not request it`;
  const told = facts.row;
  if (row.tool !== told.tool) return `is of ${row.tool} in the table of calls, and of ${told.tool} in the log`;
  if (row.state !== told.state) return `is ${row.state} in the table of calls, and ${told.state} in the log`;
  for (const [column, what] of Object.entries(NAMED)) {
    const name = column as keyof typeof NAMED;
    if (row[name] !== told[name]) return `has ${what} in the table of calls than in the log`;
  }
  if (facts.effect !== undefined && row.effect !== facts.effect)
    return 'has another effect in the table of calls than in the log';
  const args = await digestIn(engine, { data: row.args, blob: row.args_blob });
  if (facts.args !== undefined && args !== null && args !== facts.args)
    return 'has other arguments in the table of calls than in the log';
  if (row.outcome === null && row.outcome_blob === null) return null;
  // Only older versions keep the outcome here; a newer one reads it from the event that ended the call.
  const outcome = await digestIn(engine, { data: row.outcome, blob: row.outcome_blob });
  return outcome === null || outcome === facts.outcome
    ? null
    : 'has another outcome in the table of calls than in the log';
}

/** Null where its blob is lost, which is said elsewhere. */
async function digestIn(engine: Engine, payload: Payload): Promise<string | null> {
  const lost = Symbol();
  const value = await fromPayload<unknown>(engine.blobs, payload, (blob) => (blob === '' ? 'not JSON' : lost));
  return value === lost ? null : digestOf(value);
}

async function compareApprovals(
  engine: Engine,
  { id: session, pruned_seq }: VerifiedSession,
  { facts: { calls, approvals }, found }: Comparison,
): Promise<void> {
  const missing = new Map(approvals);
  for (let after = ''; ; ) {
    const page = await engine.read(() => rows(engine.sql.approvalRows, { session, after, limit: PAGE }));
    for (const row of page) {
      const told = approvals.get(row.id);
      missing.delete(row.id);
      if (told !== undefined && !isSameQuestion(row, told, calls.get(told.call_id)))
        note(found, told.call_id, `question ${row.id} differs in the table of approvals from the log`);
      if (told === undefined && (pruned_seq === 0 || calls.has(row.call_id)))
        note(found, row.call_id, `question ${row.id} is in the table of approvals, and no event asks it`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.id;
  }
  for (const { id, call_id } of missing.values())
    note(found, call_id, `question ${id} is in the log, and not in the table of approvals`);
}

function isSameQuestion(row: ApprovalTable, told: ApprovalTable, call: CallFacts | undefined): boolean {
  const endedAt = call?.row.finished_at ?? null;
  // The end of a call closes the question about it, and no event of its own says so.
  const isClosed = told.state === 'pending' && row.state === 'superseded' && endedAt !== null;
  const expected = isClosed ? { ...told, state: 'superseded', decided_at: endedAt } : told;
  return Object.entries(expected).every(([name, value]) => {
    const column = name as keyof ApprovalTable;
    return row[column] === value || (row[column] === null && isSpare(column, told));
  });
}

/** Older versions leave these empty. Nothing is lost then, unless the event told more than the other columns. */
function isSpare(column: keyof ApprovalTable, { asked, decision }: ApprovalTable): boolean {
  if (column === 'asked') return asked !== null && JSON.parse(asked).shown === undefined;
  return column === 'decision' && decision !== null && JSON.parse(decision).args === undefined;
}

function note(found: Problems, call: string, problem: string): void {
  found.set(call, [...(found.get(call) ?? []), problem]);
}

/** Drops what is said of calls that have later events: their rows were read after these were written. */
async function dropNewer(
  engine: Engine,
  { session, seq }: { session: string; seq: number },
  found: Problems,
): Promise<void> {
  for (let after = seq; ; ) {
    const page = await engine.read(() => rows(engine.sql.eventsAfter, { session, after, limit: PAGE }));
    for (const { call_id } of page) if (call_id !== null) found.delete(call_id);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}
