import { type Kysely, sql } from 'kysely';
import { define } from '../sql/statement.ts';
import type { Tables } from '../sql/tables.ts';

export function pruneStatements(db: Kysely<Tables>) {
  return {
    /**
     * Selects the last event of a session that may be deleted: older than `before` and before every unfinished call.
     */
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
    /** Every blob handle still in use. */
    usedBlobs: define<void>()(() =>
      db
        .selectFrom('events')
        .select('blob as hash')
        .where('blob', 'is not', null)
        .union(db.selectFrom('calls').select('args_blob as hash').where('args_blob', 'is not', null))
        .union(db.selectFrom('calls').select('outcome_blob as hash').where('outcome_blob', 'is not', null))
        .union(db.selectFrom('calls').select('artifact as hash').where('artifact', 'is not', null))
        .union(db.selectFrom('approvals').select('args_blob as hash').where('args_blob', 'is not', null))
        .union(db.selectFrom('approvals').select('decision_blob as hash').where('decision_blob', 'is not', null)),
    ),
  };
}
