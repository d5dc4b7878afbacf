import type { Kysely } from 'kysely';
import { define } from '../sql/statement.ts';
import type { NodeTable, Tables } from '../sql/tables.ts';

export function nodeStatements(db: Kysely<Tables>) {
  return {
    /** Starts a new epoch of a node; its earlier writes belong to the previous one. */
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
    /** Takes a call from an ended node, only as that epoch of the node left it. */
    releaseCall: define<{
      id: string;
      to: string;
      node: string | null;
      epoch: number | null;
      state: string;
      started_at: number | null;
      finished_at: number | null;
    }>()((slots) =>
      db
        .updateTable('calls')
        .set({
          state: slots.to,
          node: null,
          node_epoch: null,
          started_at: slots.started_at,
          finished_at: slots.finished_at,
        })
        .where('id', '=', slots.id)
        .where('state', '=', slots.state)
        .where('node', '=', slots.node)
        .where('node_epoch', '=', slots.epoch)
        .returning('session'),
    ),
    holder: define<{ session: string }>()(({ session }) =>
      db
        .selectFrom('session_holds')
        .leftJoin('nodes', 'nodes.id', 'session_holds.node')
        .select(['session_holds.node', 'session_holds.node_epoch', 'nodes.epoch', 'nodes.host', 'nodes.pid'])
        .where('session_holds.session', '=', session),
    ),
    /**
     * Takes a session that is free or held by exactly this epoch of a node; returns no row when another process was
     * first.
     */
    takeHold: define<Tables['session_holds'] & { from_node: string; from_epoch: number }>()((slots) =>
      db
        .insertInto('session_holds')
        .values({ session: slots.session, node: slots.node, node_epoch: slots.node_epoch })
        .onConflict((conflict) =>
          conflict
            .column('session')
            .doUpdateSet({ node: (eb) => eb.ref('excluded.node'), node_epoch: (eb) => eb.ref('excluded.node_epoch') })
            .where('session_holds.node', '=', slots.from_node)
            .where('session_holds.node_epoch', '=', slots.from_epoch),
        )
        .returning('session'),
    ),
    giveHoldBack: define<Tables['session_holds']>()(({ session, node, node_epoch }) =>
      db
        .deleteFrom('session_holds')
        .where('session', '=', session)
        .where('node', '=', node)
        .where('node_epoch', '=', node_epoch),
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
