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
    const { rows } = await this.#connections.pool.query<{ now: number }>(`SELECT ${NOW} AS now`);
    return rows[0]?.now ?? 0;
  }

  async ended(nodes: readonly NodeStamp[]): Promise<readonly NodeStamp[]> {
    const { rows } = await this.#connections.pool.query<{ id: string }>(
      `SELECT id FROM nodes WHERE lease_until > ${NOW}
       OR clock_timestamp() - pg_postmaster_start_time() < make_interval(secs => $1::double precision / 1000)`,
      [this.#leaseMs],
    );
    const alive = new Set(rows.map(({ id }) => id));
    return nodes.filter(({ id }) => id !== this.node.id && !alive.has(id));
  }

  /** Inside a transaction: marks the batch as done with it. False when it is marked already, so it was committed. */
  async takeBatch(client: pg.Client, number: number): Promise<boolean> {
    const { id } = this.node;
    const mark = 'UPDATE nodes SET batch = $2 WHERE id = $1 AND batch < $2';
    const { rowCount } = await client.query({ name: 'tw_take_batch', text: mark, values: [id, number] });
    return rowCount === 1;
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
