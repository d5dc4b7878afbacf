import type { Kysely } from 'kysely';
import { toStoredName } from '../log/payload.ts';
import { type Dialect, define, defineMany, rows, type Work } from '../sql/statement.ts';
import type { EventTable, SessionInfoTable, SessionTable, Tables } from '../sql/tables.ts';

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

export type DescribedSession = SessionTable & { [K in keyof Omit<SessionInfoTable, 'id'>]: SessionInfoTable[K] | null };

function describedSessions(db: Kysely<Tables>) {
  return db
    .selectFrom('sessions')
    .leftJoin('session_info', 'session_info.id', 'sessions.id')
    .selectAll('sessions')
    .select(['session_info.workspace', 'session_info.title', 'session_info.agent']);
}

export function logStatements(db: Kysely<Tables>, dialect: Dialect) {
  return {
    /** Adds `count` events to a session and locks its row; `setHead` sets the hash of its new end. */
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
    /** Runs last in a transaction: the row stays locked until the commit, so positions become visible in order. */
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
    newestEvent: define<{ session: string }>()(({ session }) =>
      db.selectFrom('events').select('seq').where('session', '=', session).orderBy('seq', 'desc').limit(1),
    ),
    logAfter: define<{ after: number; limit: number }>()(({ after, limit }) =>
      db.selectFrom('events').selectAll().where('pos', '>', after).orderBy('pos').limit(limit),
    ),
    /** Calls that a person cancelled at or after a position of the log. */
    cancelledCalls: define<{ from: number }>()(({ from }) =>
      db.selectFrom('events').select('call_id').where('pos', '>=', from).where('type', '=', 'call.cancel_requested'),
    ),
    logHead: define<void>()(() => db.selectFrom('log_head').select(['pos', 'pruned'])),
    /** One statement, so that no write between two of them makes them disagree. */
    headAndCount: define<void>()(() =>
      db.selectFrom('log_head').select((eb) => [
        'pos',
        'pruned',
        eb
          .selectFrom('events')
          .select((inner) => inner.fn.countAll<number>().as('count'))
          .as('count'),
      ]),
    ),
    describedSession: define<{ session: string }>()(({ session }) =>
      describedSessions(db).where('sessions.id', '=', session),
    ),
    firstDescribed: define<{ limit: number }>()(({ limit }) =>
      describedSessions(db).orderBy('sessions.id').limit(limit),
    ),
    describedAfter: define<{ after: string; limit: number }>()(({ after, limit }) =>
      describedSessions(db).where('sessions.id', '>', after).orderBy('sessions.id').limit(limit),
    ),
    newestDescribed: define<{ limit: number }>()(({ limit }) =>
      describedSessions(db).orderBy('sessions.updated_at', 'desc').orderBy('sessions.id', 'desc').limit(limit),
    ),
    describedBefore: define<{ at: number; id: string; limit: number }>()(({ at, id, limit }) =>
      describedSessions(db)
        .where((eb) =>
          eb.or([
            eb('sessions.updated_at', '<', at),
            eb.and([eb('sessions.updated_at', '=', at), eb('sessions.id', '<', id)]),
          ]),
        )
        .orderBy('sessions.updated_at', 'desc')
        .orderBy('sessions.id', 'desc')
        .limit(limit),
    ),
    /** Sessions that have events but no row. */
    strayEvents: define<{ limit: number }>()(({ limit }) =>
      db
        .selectFrom('events')
        .leftJoin('sessions', 'sessions.id', 'events.session')
        .where('sessions.id', 'is', null)
        .groupBy('events.session')
        .select((eb) => ['events.session', eb.fn.countAll<number>().as('count')])
        .orderBy('events.session')
        .limit(limit),
    ),
    firstSessions: define<{ limit: number }>()(({ limit }) =>
      db.selectFrom('sessions').selectAll().orderBy('id').limit(limit),
    ),
    session: define<{ session: string }>()(({ session }) =>
      db.selectFrom('sessions').selectAll().where('id', '=', session),
    ),
    sessionsAfter: define<{ after: string; limit: number }>()(({ after, limit }) =>
      db.selectFrom('sessions').selectAll().where('id', '>', after).orderBy('id').limit(limit),
    ),
  };
}

/** Reads a page of sessions, the most recently updated first. The cursor holds both parts of the order. */
export function newestPage(
  sql: Pick<ReturnType<typeof logStatements>, 'newestDescribed' | 'describedBefore'>,
  after: string | undefined,
  limit: number,
): Work<readonly DescribedSession[]> {
  if (after === undefined) return rows(sql.newestDescribed, { limit });
  const [, at, id] = /^(\d{1,15}):(.*)$/s.exec(after) ?? ['', '0', ''];
  return rows(sql.describedBefore, { at: Number(at), id: toStoredName(id ?? ''), limit });
}

/** Reads a page of sessions by name, with their descriptions. */
export function describedPage(
  sql: Pick<ReturnType<typeof logStatements>, 'firstDescribed' | 'describedAfter'>,
  after: string | undefined,
  limit: number,
): Work<readonly DescribedSession[]> {
  return after === undefined ? rows(sql.firstDescribed, { limit }) : rows(sql.describedAfter, { after, limit });
}

/** Reads a page of sessions by name. The first page has no `after`, because an empty name is a name too. */
export function sessionPage(
  sql: Pick<ReturnType<typeof logStatements>, 'firstSessions' | 'sessionsAfter'>,
  after: string | undefined,
  limit: number,
): Work<readonly SessionTable[]> {
  return after === undefined ? rows(sql.firstSessions, { limit }) : rows(sql.sessionsAfter, { after, limit });
}
