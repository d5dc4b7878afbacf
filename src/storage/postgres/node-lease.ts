import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import type { NodeStamp } from '../../kernel/call.ts';
import type { Connections } from './connections.ts';

const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Rows of nodes that are long gone and left nothing behind. */
const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * How nodes on several machines know of each other: each renews a row while it lives, and the database's clock decides
 * when one has been silent for too long. After the server itself was away, everybody gets the time of one lease to
 * renew before anybody counts as gone.
 */
export class NodeLease {
  readonly node: NodeStamp;
  readonly #connections: Connections;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;

  private constructor(connections: Connections, node: NodeStamp, leaseMs: number) {
    this.#connections = connections;
    this.node = node;
    this.#leaseMs = leaseMs;
    this.#timer = setInterval(() => void this.#renew(), leaseMs / 5).unref();
  }

  static async start(connections: Connections, leaseMs: number): Promise<NodeLease> {
    const id = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
    await connections.pool.query(
      `INSERT INTO nodes (id, epoch, host, pid, started_at, lease_until, batch)
       VALUES ($1, 1, $2, $3, ${NOW}, ${NOW} + $4, 0)`,
      [id, hostname(), process.pid, leaseMs],
    );
    await connections.pool.query(
      `DELETE FROM nodes WHERE lease_until < ${NOW} - $1
       AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.node = nodes.id AND calls.finished_at IS NULL)`,
      [FORGET_AFTER_MS],
    );
    return new NodeLease(connections, { id, epoch: 1 }, leaseMs);
  }

  async now(): Promise<number> {
    const [row] = await this.#connections.query<{ now: number }>(`SELECT ${NOW} AS now`);
    return row?.now ?? 0;
  }

  async ended(nodes: readonly NodeStamp[]): Promise<readonly NodeStamp[]> {
    const rows = await this.#connections.query<{ id: string }>(
      `SELECT id FROM nodes WHERE lease_until > ${NOW}
       OR clock_timestamp() - pg_postmaster_start_time() < make_interval(secs => $1::double precision / 1000)`,
      [this.#leaseMs],
    );
    const alive = new Set(rows.map(({ id }) => id));
    return nodes.filter(({ id }) => id !== this.node.id && !alive.has(id));
  }

  /**
   * Inside a transaction: marks the batch as done with it. `committed` when it is marked already; `forgotten` when this
   * node's row was gone, so nothing is known of earlier batches. The row is then there again.
   */
  async takeBatch(client: pg.Client, number: number): Promise<'new' | 'committed' | 'forgotten'> {
    const mark = `INSERT INTO nodes (id, epoch, host, pid, started_at, lease_until, batch)
      VALUES ($1, $2, $3, $4, ${NOW}, ${NOW} + $5, $6)
      ON CONFLICT (id) DO UPDATE SET batch = excluded.batch WHERE nodes.batch < excluded.batch
      RETURNING xmax = 0 AS inserted`;
    const { id, epoch } = this.node;
    const values = [id, epoch, hostname(), process.pid, this.#leaseMs, number];
    const { rows } = await client.query<{ inserted: boolean }>({ name: 'tw_take_batch', text: mark, values });
    if (rows[0] === undefined) return 'committed';
    return rows[0].inserted ? 'forgotten' : 'new';
  }

  /** A node that leaves in order is gone at once; its row goes when none of its calls is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const leave = 'UPDATE nodes SET lease_until = 0 WHERE id = $1';
    await this.#connections.pool.query(leave, [this.node.id]).catch(() => {});
  }

  async #renew(): Promise<void> {
    const renew = `UPDATE nodes SET lease_until = ${NOW} + $2 WHERE id = $1`;
    await this.#connections.pool.query(renew, [this.node.id, this.#leaseMs]).catch(() => {});
  }
}
