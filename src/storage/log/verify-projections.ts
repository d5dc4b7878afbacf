import { isFinal } from '../../kernel/call/call.ts';
import type { EventData } from '../../kernel/call/event.ts';
import type { Engine } from '../engine.ts';
import { rows } from '../sql/statement.ts';
import type { EventTable, Tables } from '../sql/tables.ts';
import { fromPayload, toStoredName, toStoredNameOrNull } from './payload.ts';

const PAGE = 500;

/** The events of one call that its row repeats. */
interface CallFacts {
  readonly requested: { readonly seq: number; readonly at: number } & Pick<
    EventData['call.requested'],
    'tool' | 'agent'
  >;
  /** Its last end; null while it has none. */
  ended: EventData['call.finished']['state'] | null;
}

/** The facts that the events of a session tell of its calls, by the id of the call. */
export type CallFactsById = Map<string, CallFacts>;

/** Adds an event to the facts. Events must come in their order. */
export async function addCallFacts(engine: Engine, facts: CallFactsById, event: EventTable): Promise<void> {
  const { type, call_id: id, seq, at } = event;
  if (id === null) return;
  if (type === 'call.requested') {
    const data = await dataOf<EventData['call.requested']>(engine, event, ['tool']);
    if (data !== null) facts.set(id, { requested: { seq, at, tool: data.tool, agent: data.agent }, ended: null });
  }
  const known = facts.get(id);
  if (type === 'call.finished' && known !== undefined)
    known.ended = (await dataOf<EventData['call.finished']>(engine, event, ['state']))?.state ?? null;
}

/** Compares the rows of a session's calls with its events after `pruned_seq` and up to `last_seq`. */
export async function verifyCallRows(
  engine: Engine,
  { id: session, pruned_seq, last_seq }: Pick<Tables['sessions'], 'id' | 'pruned_seq' | 'last_seq'>,
  facts: CallFactsById,
): Promise<string[]> {
  const found = new Map<string, string>();
  for (let after = 0; ; ) {
    const page = await engine.read(() => rows(engine.sql.callRows, { session, after, limit: PAGE }));
    for (const row of page) {
      if (row.first_seq <= pruned_seq || row.first_seq > last_seq) continue;
      const difference = differenceOf(row, facts.get(row.id));
      if (difference !== null) found.set(row.id, `call ${row.id} ${difference}`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.pos;
  }
  if (found.size > 0) await dropNewer(engine, { session, seq: last_seq }, found);
  return [...found.values()];
}

type CallRow = Pick<Tables['calls'], 'id' | 'pos' | 'first_seq' | 'agent' | 'tool' | 'state' | 'requested_at'>;

function differenceOf(row: CallRow, facts: CallFacts | undefined): string | null {
  if (facts === undefined || facts.requested.seq !== row.first_seq)
    return `is in the table of calls, and event ${row.first_seq} does not request it`;
  const { tool, agent, at } = facts.requested;
  if (row.tool !== toStoredName(tool)) return `is of ${row.tool} in the table of calls, and of ${tool} in the log`;
  if (row.agent !== toStoredNameOrNull(agent ?? null)) return 'has another agent in the table of calls than in the log';
  if (row.requested_at !== at) return 'has another time in the table of calls than in the log';
  const state = isFinal(row.state as Parameters<typeof isFinal>[0]) ? row.state : null;
  if (state === facts.ended) return null;
  return `is ${row.state} in the table of calls, and ${facts.ended ?? 'not ended'} in the log`;
}

/** Drops what is said of calls that have later events: their rows were read after these were written. */
async function dropNewer(
  engine: Engine,
  { session, seq }: { session: string; seq: number },
  found: Map<string, string>,
): Promise<void> {
  for (let after = seq; ; ) {
    const page = await engine.read(() => rows(engine.sql.eventsAfter, { session, after, limit: PAGE }));
    for (const { call_id } of page) if (call_id !== null) found.delete(call_id);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}

/** Null where it is lost or damaged, which walking the chain says: then it has not the texts that it needs. */
export async function dataOf<T>(engine: Engine, event: EventTable, texts: readonly (keyof T)[]): Promise<T | null> {
  const data = await fromPayload<T | null>(engine.blobs, event, () => null);
  return texts.every((name) => typeof data?.[name] === 'string') ? data : null;
}
