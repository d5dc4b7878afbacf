import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import type { NodeStamp } from '../../kernel/call/call.ts';
import type { Query, Work } from '../sql/statement.ts';
import type { Connections } from './connections.ts';

const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Rows of nodes that left no unfinished call are deleted after this time. */
const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;

/** True for a node whose lease is over; right after a server start only for one that shut down. `$1` is the lease. */
const SILENT = `lease_until <= ${NOW} AND (lease_until = 0 OR
  clock_timestamp() - pg_postmaster_start_time() >= make_interval(secs => $1::double precision / 1000))`;

/**
 * The lease of this process as a node: each node renews its row while it lives, and the clock of the database decides
 * when a lease is over. After a restart of the server every node gets the time of one lease to renew.
 *
 * A process that evicts a node raises the node's epoch in the transaction that takes its calls. An evicted node that
 * comes back continues under the new epoch; its writes about calls of the old epoch are refused.
 */
export class NodeLease {
  readonly #id: string;
  readonly #connections: Connections;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #givenUp = new Set<() => void>();
  #epoch = 1;
  #renewing: Promise<void> | undefined;
  #renewedAt: number;
  #silent = false;

  private constructor(connections: Connections, id: string, leaseMs: number) {
    this.#connections = connections;
    this.#id = id;
    this.#leaseMs = leaseMs;
    this.#renewedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), leaseMs / 5).unref();
  }

  get node(): NodeStamp {
    return { id: this.#id, epoch: this.#epoch };
  }

  /**
   * Calls `listener` when this node was evicted, or may have been because it could not renew for the time of its lease.
   */
  onEvicted(listener: () => void): () => void {
    this.#givenUp.add(listener);
    return () => this.#givenUp.delete(listener);
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
    return new NodeLease(connections, id, leaseMs);
  }

  async now(): Promise<number> {
    const [row] = await this.#connections.query<{ now: number }>(`SELECT ${NOW} AS now`);
    return row?.now ?? 0;
  }

  async ended(nodes: readonly NodeStamp[]): Promise<readonly NodeStamp[]> {
    const alive = await this.#connections.query<{ id: string }>(`SELECT id FROM nodes WHERE NOT (${SILENT})`, [
      this.#leaseMs,
    ]);
    const ids = new Set(alive.map(({ id }) => id));
    return nodes.filter(({ id }) => id !== this.#id && !ids.has(id));
  }

  /** Ends this epoch of the node inside a write. Returns false when the node has renewed meanwhile. */
  *evict({ id, epoch }: NodeStamp): Work<boolean> {
    const raised = yield query(EVICT, [this.#leaseMs, id, epoch]);
    if (raised.length > 0) return true;
    const living = yield query(LIVES, [id, epoch]);
    return living.length === 0;
  }

  /**
   * Records the number of the batch inside its transaction and renews the lease. Returns `committed` when the number is
   * there already, `forgotten` when the row of this node was gone, so that nothing is known of earlier batches. The row
   * is then inserted under a new epoch, because the node may have been evicted before its row was deleted.
   */
  async takeBatch(client: pg.Client, number: number): Promise<'new' | 'committed' | 'forgotten'> {
    const mark = `INSERT INTO nodes (id, epoch, host, pid, started_at, lease_until, batch)
      VALUES ($1, $2, $3, $4, ${NOW}, ${NOW} + $5, $6)
      ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, lease_until = excluded.lease_until
        WHERE nodes.batch < excluded.batch
      RETURNING xmax = 0 AS inserted, epoch`;
    const values = [this.#id, this.#epoch + 1, hostname(), process.pid, this.#leaseMs, number];
    const { rows } = await client.query<{ inserted: boolean; epoch: number }>({
      name: 'tw_take_batch',
      text: mark,
      values,
    });
    if (rows[0] === undefined) return 'committed';
    this.#goOnAs(rows[0].epoch);
    return rows[0].inserted ? 'forgotten' : 'new';
  }

  /** Ends the lease at once. The row is deleted later, when none of its calls is unfinished. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    // A renewal under way on another connection could run after the end of the lease and undo it.
    await this.#renewing;
    const leave = 'UPDATE nodes SET lease_until = 0 WHERE id = $1 AND epoch = $2';
    await this.#connections.pool.query(leave, [this.#id, this.#epoch]).catch(() => {});
  }

  #tick(): void {
    const stuck = this.#renewing !== undefined;
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    if (performance.now() - this.#renewedAt < this.#leaseMs) return;
    if (stuck) {
      this.#cutOff();
      return;
    }
    // The timer itself may have been late: then the renewal just sent decides.
    const before = this.#renewedAt;
    void this.#renewing.then(() => {
      if (this.#renewedAt === before) this.#cutOff();
    });
  }

  async #renew(): Promise<void> {
    const renew = `UPDATE nodes SET lease_until = ${NOW} + $2 WHERE id = $1 RETURNING epoch`;
    const sentAt = performance.now();
    try {
      const { rows } = await this.#connections.pool.query<{ epoch: number }>(renew, [this.#id, this.#leaseMs]);
      if (rows[0] === undefined) return;
      this.#renewedAt = sentAt;
      this.#silent = false;
      this.#goOnAs(rows[0].epoch);
    } catch {
      // The server is away; the next tick retries.
    }
  }

  #goOnAs(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    for (const listener of this.#givenUp) listener();
  }

  #cutOff(): void {
    if (this.#silent) return;
    this.#silent = true;
    for (const listener of this.#givenUp) listener();
  }
}

const EVICT = `UPDATE nodes SET epoch = epoch + 1, lease_until = 0
  WHERE ${SILENT} AND id = $2 AND epoch = $3 RETURNING id`;
const LIVES = 'SELECT id FROM nodes WHERE id = $1 AND epoch = $2';

function query(sql: string, values: unknown[]): Query {
  return { statement: { sql, returns: true }, values };
}
