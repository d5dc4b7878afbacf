import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { ApprovalState } from '../../kernel/call/approval.ts';
import { UNFINISHED_STATES } from '../../kernel/call/ledger.ts';
import { type Dialect, define, defineMany } from '../sql/statement.ts';
import type { CallTable, Tables } from '../sql/tables.ts';

const CALL_COLUMNS = [
  'id',
  'pos',
  'session',
  'first_seq',
  'agent',
  'tool',
  'key',
  'digest',
  'effect',
  'state',
  'args',
  'args_blob',
  'outcome',
  'outcome_blob',
  'artifact',
  'requested_at',
  'started_at',
  'finished_at',
  'duration_us',
  'attempt',
  'node',
  'node_epoch',
] as const satisfies readonly (keyof CallTable)[];

/** Left out are `key`, `digest` and the node: no person reads them. */
const TOLD_COLUMNS = [
  'id',
  'pos',
  'first_seq',
  'agent',
  'tool',
  'effect',
  'state',
  'args',
  'args_blob',
  'outcome',
  'outcome_blob',
  'artifact',
  'requested_at',
  'started_at',
  'finished_at',
  'duration_us',
  'attempt',
] as const;

/** A call's row as far as its events tell it as well. */
export type ToldCall = Pick<CallTable, (typeof TOLD_COLUMNS)[number]>;

const BLOB_COLUMNS = ['args_blob', 'outcome_blob', 'artifact'] as const;

/** The columns a move may change beside the state. */
export type MovedColumns = Partial<
  Pick<
    CallTable,
    | 'args'
    | 'args_blob'
    | 'effect'
    | 'started_at'
    | 'finished_at'
    | 'duration_us'
    | 'outcome'
    | 'outcome_blob'
    | 'artifact'
    | 'node'
    | 'node_epoch'
  >
>;

interface MoveSlots extends Required<MovedColumns> {
  id: string;
  to: string;
  starts: number;
  epoch: number;
  my_node: string;
  my_epoch: number;
  from0: string;
  from1: string;
  from2: string;
  from3: string;
}

export function callStatements(db: Kysely<Tables>, dialect: Dialect) {
  return {
    insertCalls: defineMany<CallTable>(dialect, CALL_COLUMNS, (rows) => db.insertInto('calls').values(rows)),
    call: define<{ id: string }>()(({ id }) => knownCalls(db).where('calls.id', '=', id)),
    shownCall: define<{ id: string }>()(({ id }) => knownCalls(db).select(ANSWERED_BY).where('calls.id', '=', id)),
    callByKey: define<{ session: string; key: string }>()(({ session, key }) =>
      knownCalls(db).where('calls.session', '=', session).where('calls.key', '=', key),
    ),
    /** The calls of a session that refer to blobs. */
    callBlobs: define<{ session: string; after: number; limit: number }>()(({ session, after, limit }) =>
      db
        .selectFrom('calls')
        .select(['id', 'pos', 'args_blob', 'outcome_blob', 'artifact'])
        .where('session', '=', session)
        .where('pos', '>', after)
        .where((eb) => eb.or(BLOB_COLUMNS.map((column) => eb(column, 'is not', null))))
        .orderBy('pos')
        .limit(limit),
    ),
    /** The columns of a session's calls that its events tell as well. */
    callRows: define<{ session: string; after: number; limit: number }>()(({ session, after, limit }) =>
      db
        .selectFrom('calls')
        .select(TOLD_COLUMNS)
        .where('session', '=', session)
        .where('pos', '>', after)
        .orderBy('pos')
        .limit(limit),
    ),
    unfinishedCalls: define<void>()(() =>
      db
        .selectFrom('calls')
        .selectAll()
        .where('finished_at', 'is', null)
        .where('state', 'in', UNFINISHED_STATES)
        .orderBy('pos'),
    ),
    /** Compiled once for each set of columns that a move changes; there are few. */
    moveCall: cached((columns: readonly (keyof MovedColumns)[]) => moveCall(db, columns)),
  };
}

/** Selects calls with the event that ended them. The type is a literal, because a partial index ignores parameters. */
export function knownCalls(db: Kysely<Tables>) {
  return db
    .selectFrom('calls')
    .leftJoin('events as ended', (join) =>
      join.on('ended.pos', '=', (eb) =>
        eb
          .selectFrom('events')
          .select((inner) => inner.fn.max('events.pos').as('pos'))
          .whereRef('events.call_id', '=', 'calls.id')
          .where('events.type', '=', sql.lit('call.finished')),
      ),
    )
    .selectAll('calls')
    .select(['ended.data as ended_data', 'ended.blob as ended_blob']);
}

type Calls = ExpressionBuilder<Tables, 'calls'>;

/** Selects who approved and who denied a call. A denial without a name was no person's: it was withdrawn. */
export const ANSWERED_BY = [
  (calls: Calls) =>
    answers(calls, 'approved')
      .select((eb) => eb.fn.coalesce('decided_by', eb.val('')).as('by'))
      .as('approved_by'),
  (calls: Calls) => answers(calls, 'denied').select('decided_by').as('denied_by'),
] as const;

function answers(calls: Calls, state: ApprovalState) {
  return calls
    .selectFrom('approvals')
    .whereRef('approvals.call_id', '=', 'calls.id')
    .where('approvals.state', '=', state)
    .orderBy('approvals.requested_at', 'desc')
    .limit(1);
}

/**
 * The compare-and-set of a call: only from these states, only in the named epoch of this node, and a call that a node
 * is running only by that node in that epoch.
 */
function moveCall(db: Kysely<Tables>, columns: readonly (keyof MovedColumns)[]) {
  return define<MoveSlots>()((slots) =>
    db
      .updateTable('calls')
      .set((eb) => ({
        state: slots.to,
        attempt: eb('attempt', '+', slots.starts),
        ...Object.fromEntries(columns.map((column) => [column, slots[column]])),
      }))
      .where('id', '=', slots.id)
      .where('state', 'in', [slots.from0, slots.from1, slots.from2, slots.from3])
      .where((eb) =>
        eb.or([
          eb(eb.val(slots.epoch), '=', ANY_EPOCH),
          eb.and([eb('node', '=', slots.my_node), eb('node_epoch', '=', slots.epoch)]),
        ]),
      )
      .where((eb) =>
        eb.or([
          eb('state', 'not in', ['requested', 'running']),
          eb.and([eb('node', '=', slots.my_node), eb('node_epoch', '=', slots.my_epoch)]),
        ]),
      )
      .returning(['session', 'started_at']),
  );
}

export const ANY_EPOCH = -1;

function cached<A extends readonly string[], T>(build: (columns: A) => T): (columns: A) => T {
  const known = new Map<string, T>();
  return (columns) => {
    const key = columns.join();
    const found = known.get(key) ?? build(columns);
    known.set(key, found);
    return found;
  };
}
