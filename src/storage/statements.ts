import { type Kysely, sql } from 'kysely';
import { UNFINISHED_STATES } from '../kernel/ledger.ts';
import { type Dialect, define, defineMany, queryBuilder, text } from './statement.ts';
import type { ApprovalTable, CallTable, EventTable, NodeTable, Tables } from './tables.ts';

export type Statements = ReturnType<typeof createStatements>;

/** Everything the store says to its database, compiled once for its dialect. */
export function createStatements(dialect: Dialect) {
  const db = queryBuilder(dialect);
  return {
    dialect,
    db,
    savepoint: text('SAVEPOINT unit'),
    release: text('RELEASE SAVEPOINT unit'),
    undo: text('ROLLBACK TO SAVEPOINT unit'),
    ...logStatements(db, dialect),
    ...callStatements(db, dialect),
    ...projectionStatements(db),
    ...nodeStatements(db),
    ...pruneStatements(db),
  };
}

const EVENT_COLUMNS = [
  'pos',
  'session',
  'seq',
  'type',
  'version',
  'call_id',
  'at',
  'data',
  'blob',
  'hash',
] as const satisfies readonly (keyof EventTable)[];

function logStatements(db: Kysely<Tables>, dialect: Dialect) {
  return {
    /** Counts `count` events onto a session and locks its row; the hash of its new end follows with `setHead`. */
    takeSeq: define<{ session: string; count: number; at: number }>()(({ session, count, at }) =>
      db
        .insertInto('sessions')
        .values({
          id: session,
          created_at: at,
          updated_at: at,
          last_seq: count,
          last_hash: '',
          pruned_seq: 0,
          pruned_hash: '',
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            last_seq: (eb) => eb('sessions.last_seq', '+', eb.ref('excluded.last_seq')),
            updated_at: (eb) => eb.ref('excluded.updated_at'),
          }),
        )
        .returning(['last_seq', 'last_hash']),
    ),
    setHead: define<{ session: string; hash: string }>()(({ session, hash }) =>
      db.updateTable('sessions').set({ last_hash: hash }).where('id', '=', session),
    ),
    /** Taken last in a transaction: the row stays locked until the commit, so positions become visible in order. */
    takePos: define<{ count: number }>()(({ count }) =>
      db
        .updateTable('log_head')
        .set((eb) => ({ pos: eb('pos', '+', count) }))
        .where('id', '=', 1)
        .returning('pos'),
    ),
    insertEvents: defineMany<EventTable>(dialect, EVENT_COLUMNS, (rows) => db.insertInto('events').values(rows)),
    eventsAfter: define<{ session: string; after: number; limit: number }>()(({ session, after, limit }) =>
      db
        .selectFrom('events')
        .selectAll()
        .where('session', '=', session)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit),
    ),
    logAfter: define<{ after: number; limit: number }>()(({ after, limit }) =>
      db.selectFrom('events').selectAll().where('pos', '>', after).orderBy('pos').limit(limit),
    ),
    logHead: define<void>()(() => db.selectFrom('log_head').select(['pos', 'pruned'])),
    countEvents: define<void>()(() => db.selectFrom('events').select((eb) => eb.fn.countAll<number>().as('count'))),
    session: define<{ session: string }>()(({ session }) =>
      db.selectFrom('sessions').selectAll().where('id', '=', session),
    ),
    sessionsAfter: define<{ after: string; limit: number }>()(({ after, limit }) =>
      db.selectFrom('sessions').selectAll().where('id', '>', after).orderBy('id').limit(limit),
    ),
  };
}

const CALL_COLUMNS = [
  'id',
  'pos',
  'session',
  'first_seq',
  'agent',
  'tool',
  'key',
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
  attempt: number;
  my_node: string;
  my_epoch: number;
  from0: string;
  from1: string;
  from2: string;
  from3: string;
}

function callStatements(db: Kysely<Tables>, dialect: Dialect) {
  return {
    insertCalls: defineMany<CallTable>(dialect, CALL_COLUMNS, (rows) => db.insertInto('calls').values(rows)),
    call: define<{ id: string }>()(({ id }) => db.selectFrom('calls').selectAll().where('id', '=', id)),
    callByKey: define<{ session: string; key: string }>()(({ session, key }) =>
      db.selectFrom('calls').selectAll().where('session', '=', session).where('key', '=', key),
    ),
    unfinishedCalls: define<void>()(() =>
      db
        .selectFrom('calls')
        .selectAll()
        .where('finished_at', 'is', null)
        .where('state', 'in', UNFINISHED_STATES)
        .orderBy('pos'),
    ),
    /** Compiled once for each set of columns that moves change: there are few. */
    moveCall: cached((columns: readonly (keyof MovedColumns)[]) => moveCall(db, columns)),
  };
}

/**
 * The compare-and-set: only from these states, only in the named attempt, and a running call only by the node that
 * runs it.
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
      .where((eb) => eb.or([eb('attempt', '=', slots.attempt), eb(eb.val(slots.attempt), '=', ANY_ATTEMPT)]))
      .where((eb) =>
        eb.or([
          eb('state', '<>', 'running'),
          eb.and([eb('node', '=', slots.my_node), eb('node_epoch', '=', slots.my_epoch)]),
        ]),
      )
      .returning(['session', 'started_at']),
  );
}

export const ANY_ATTEMPT = -1;

function projectionStatements(db: Kysely<Tables>) {
  return {
    insertApproval: define<ApprovalTable>()((slots) =>
      db.insertInto('approvals').values({
        id: slots.id,
        call_id: slots.call_id,
        session: slots.session,
        tool: slots.tool,
        args: slots.args,
        args_blob: slots.args_blob,
        reason: slots.reason,
        digest: slots.digest,
        state: slots.state,
        requested_at: slots.requested_at,
        expires_at: slots.expires_at,
        decided_at: null,
        decided_by: null,
        message: null,
      }),
    ),
    approval: define<{ id: string }>()(({ id }) => db.selectFrom('approvals').selectAll().where('id', '=', id)),
    /** The first decision wins: only a pending one changes. */
    decideApproval: define<{ id: string; state: string; at: number; by: string | null; message: string | null }>()(
      ({ id, state, at, by, message }) =>
        db
          .updateTable('approvals')
          .set({ state, decided_at: at, decided_by: by, message })
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .returning(['id', 'expires_at']),
    ),
    /** A call that ended waits for nobody. */
    closeApprovals: define<{ call: string; at: number }>()(({ call, at }) =>
      db
        .updateTable('approvals')
        .set({ state: 'expired', decided_at: at })
        .where('call_id', '=', call)
        .where('state', '=', 'pending'),
    ),
    overdueApprovals: define<{ now: number }>()(({ now }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where('state', '=', 'pending')
        .where('expires_at', 'is not', null)
        .where('expires_at', '<=', now),
    ),
    approvals: define<{ state: string | null; session: string | null }>()(({ state, session }) =>
      db
        .selectFrom('approvals')
        .selectAll()
        .where((eb) => eb.or([eb('state', '=', state), eb(sql`cast(${state} as text)`, 'is', null)]))
        .where((eb) => eb.or([eb('session', '=', session), eb(sql`cast(${session} as text)`, 'is', null)]))
        .orderBy('requested_at')
        .orderBy('id'),
    ),
    saveRule: define<Tables['rules']>()((slots) =>
      db
        .insertInto('rules')
        .values({
          id: slots.id,
          rule: slots.rule,
          verdict: slots.verdict,
          saved_by: slots.saved_by,
          saved_at: slots.saved_at,
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            rule: (eb) => eb.ref('excluded.rule'),
            verdict: (eb) => eb.ref('excluded.verdict'),
            saved_by: (eb) => eb.ref('excluded.saved_by'),
            saved_at: (eb) => eb.ref('excluded.saved_at'),
          }),
        ),
    ),
    removeRule: define<{ id: string }>()(({ id }) => db.deleteFrom('rules').where('id', '=', id)),
    rules: define<void>()(() => db.selectFrom('rules').selectAll().orderBy('saved_at').orderBy('id')),
    switchTool: define<Tables['tool_states']>()((slots) =>
      db
        .insertInto('tool_states')
        .values({ tool: slots.tool, enabled: slots.enabled, changed_at: slots.changed_at })
        .onConflict((conflict) =>
          conflict.column('tool').doUpdateSet({
            enabled: (eb) => eb.ref('excluded.enabled'),
            changed_at: (eb) => eb.ref('excluded.changed_at'),
          }),
        ),
    ),
    toolStates: define<void>()(() => db.selectFrom('tool_states').selectAll().orderBy('tool')),
  };
}

function nodeStatements(db: Kysely<Tables>) {
  return {
    /** A new life of a node: its epoch grows, and what it wrote before is of an earlier one. */
    startNode: define<Omit<NodeTable, 'epoch' | 'batch'>>()((slots) =>
      db
        .insertInto('nodes')
        .values({
          id: slots.id,
          epoch: 1,
          host: slots.host,
          pid: slots.pid,
          started_at: slots.started_at,
          lease_until: slots.lease_until,
          batch: 0,
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({
            epoch: (eb) => eb('nodes.epoch', '+', 1),
            host: (eb) => eb.ref('excluded.host'),
            pid: (eb) => eb.ref('excluded.pid'),
            started_at: (eb) => eb.ref('excluded.started_at'),
            lease_until: (eb) => eb.ref('excluded.lease_until'),
            batch: 0,
          }),
        )
        .returning('epoch'),
    ),
    nodes: define<void>()(() => db.selectFrom('nodes').selectAll().orderBy('id')),
    /** Taking a call from a node that is no more: only as that life of it left the call. */
    releaseCall: define<{
      id: string;
      to: string;
      node: string | null;
      epoch: number | null;
      state: string;
      finished_at: number | null;
      outcome: string | null;
    }>()((slots) =>
      db
        .updateTable('calls')
        .set({
          state: slots.to,
          node: null,
          node_epoch: null,
          finished_at: slots.finished_at,
          outcome: slots.outcome,
        })
        .where('id', '=', slots.id)
        .where('state', '=', slots.state)
        .where('node', '=', slots.node)
        .where('node_epoch', '=', slots.epoch)
        .returning('session'),
    ),
    storeClock: define<{ boot: string }>()(({ boot }) =>
      db.selectFrom('store_clock').selectAll().where('boot_id', '=', boot),
    ),
    startClock: define<{ boot: string; wall: number; uptime: number }>()(({ boot, wall, uptime }) =>
      db
        .insertInto('store_clock')
        .values({ boot_id: boot, wall_ms: wall, uptime_ms: uptime })
        .onConflict((conflict) => conflict.column('boot_id').doNothing()),
    ),
    forgetOtherClocks: define<{ boot: string }>()(({ boot }) =>
      db.deleteFrom('store_clock').where('boot_id', '<>', boot),
    ),
  };
}

function pruneStatements(db: Kysely<Tables>) {
  return {
    /** The last event of a session that may go: older than `before`, and in front of every unfinished call. */
    prunableUpTo: define<{ session: string; before: number; maxPos: number }>()(({ session, before, maxPos }) =>
      db
        .selectFrom('events')
        .select(['seq', 'hash'])
        .where('session', '=', session)
        .where('pos', '<=', maxPos)
        .where('seq', '<', (eb) =>
          eb
            .selectFrom('events as young')
            .select((inner) => inner.fn.coalesce(inner.fn.min('young.seq'), sql<number>`9007199254740991`).as('seq'))
            .where('young.session', '=', session)
            .where('young.at', '>=', before),
        )
        .where('seq', '<', (eb) =>
          eb
            .selectFrom('calls')
            .select((inner) =>
              inner.fn.coalesce(inner.fn.min('calls.first_seq'), sql<number>`9007199254740991`).as('seq'),
            )
            .where('calls.session', '=', session)
            .where('calls.finished_at', 'is', null),
        )
        .orderBy('seq', 'desc')
        .limit(1),
    ),
    deleteEvents: define<{ session: string; upTo: number }>()(({ session, upTo }) =>
      db.deleteFrom('events').where('session', '=', session).where('seq', '<=', upTo),
    ),
    countEventsUpTo: define<{ session: string; upTo: number }>()(({ session, upTo }) =>
      db
        .selectFrom('events')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('session', '=', session)
        .where('seq', '<=', upTo),
    ),
    deleteCalls: define<{ session: string; upTo: number; before: number }>()(({ session, upTo, before }) =>
      db
        .deleteFrom('calls')
        .where('session', '=', session)
        .where('first_seq', '<=', upTo)
        .where('finished_at', 'is not', null)
        .where('finished_at', '<', before)
        .returning('id'),
    ),
    deleteApprovals: define<{ call: string }>()(({ call }) => db.deleteFrom('approvals').where('call_id', '=', call)),
    setPruned: define<{ session: string; seq: number; hash: string }>()(({ session, seq, hash }) =>
      db.updateTable('sessions').set({ pruned_seq: seq, pruned_hash: hash }).where('id', '=', session),
    ),
    countPruned: define<{ count: number }>()(({ count }) =>
      db
        .updateTable('log_head')
        .set((eb) => ({ pruned: eb('pruned', '+', count) }))
        .where('id', '=', 1),
    ),
    /** Every handle that something still refers to. */
    usedBlobs: define<void>()(() =>
      db
        .selectFrom('events')
        .select('blob as hash')
        .where('blob', 'is not', null)
        .union(db.selectFrom('calls').select('args_blob as hash').where('args_blob', 'is not', null))
        .union(db.selectFrom('calls').select('outcome_blob as hash').where('outcome_blob', 'is not', null))
        .union(db.selectFrom('calls').select('artifact as hash').where('artifact', 'is not', null))
        .union(db.selectFrom('approvals').select('args_blob as hash').where('args_blob', 'is not', null)),
    ),
    putBlob: define<Tables['blobs']>()((slots) =>
      db
        .insertInto('blobs')
        .values({ hash: slots.hash, bytes: slots.bytes, size: slots.size, put_at: slots.put_at })
        .onConflict((conflict) => conflict.column('hash').doUpdateSet({ put_at: (eb) => eb.ref('excluded.put_at') })),
    ),
    getBlob: define<{ hash: string }>()(({ hash }) => db.selectFrom('blobs').select('bytes').where('hash', '=', hash)),
    oldBlobs: define<{ before: number }>()(({ before }) =>
      db.selectFrom('blobs').select('hash').where('put_at', '<', before),
    ),
    deleteBlob: define<{ hash: string }>()(({ hash }) => db.deleteFrom('blobs').where('hash', '=', hash)),
  };
}

function cached<A extends readonly string[], T>(build: (columns: A) => T): (columns: A) => T {
  const known = new Map<string, T>();
  return (columns) => {
    const key = columns.join();
    const found = known.get(key) ?? build(columns);
    known.set(key, found);
    return found;
  };
}
