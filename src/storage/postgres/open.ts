import pg from 'pg';
import { StoreError } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { MIGRATIONS, type Migration, migrationStatements, newerSchema } from '../sql/migrations.ts';
import { SqlStore } from '../sql/sql-store.ts';
import { createStatements, type Statements } from '../sql/statements.ts';
import type { OpenStore } from '../store-and-blobs.ts';
import { PostgresBlobs } from './blobs.ts';
import { Connections } from './connections.ts';
import { PostgresEngine } from './engine.ts';
import { NodeLease } from './node-lease.ts';
import { postgresTrouble } from './trouble.ts';

export interface PostgresOptions {
  /** Default `toolwright`. */
  schema?: string;
  /** How long a node that does not renew its lease counts as alive. Default 10 s. */
  leaseMs?: number;
  /** How long work is retried while the server is away. Default 30 s. */
  patienceMs?: number;
  /** The migrations to apply. Tests pass others, to open the store of an earlier version. */
  migrations?: readonly Migration[];
}

/** The advisory lock that a process holds while it migrates; any number that no other program uses. */
const MIGRATION_LOCK = 8_665_001;
const MIN_SERVER_VERSION = 130_000;

/** Fails with NOT_CONFIGURED and `details.trouble` when the server cannot be reached or its settings are unsafe. */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Result<OpenStore>> {
  const { schema = 'toolwright', leaseMs = 10_000, patienceMs = 30_000, migrations = MIGRATIONS } = options;
  let connections: Connections | undefined;
  try {
    connections = new Connections(url, schema, patienceMs);
    const sql = createStatements('postgres');
    await prepareServer(connections, sql, { schema, migrations });
    const lease = await NodeLease.start(connections, leaseMs);
    const blobs = new PostgresBlobs(connections, sql);
    const parts = { connections, sql, blobs, lease, channel: `toolwright_${schema}` };
    const engine = new PostgresEngine(parts);
    const { rows } = await connections.pool.query<{ pos: number }>('SELECT pos FROM log_head');
    const store = new SqlStore(engine, { head: rows[0]?.pos ?? 0, onClose() {} });
    return ok({ store, blobs });
  } catch (error) {
    await connections?.close().catch(() => {});
    const trouble = postgresTrouble(error);
    const details = trouble instanceof StoreError ? { trouble: trouble.trouble } : {};
    return fail('NOT_CONFIGURED', messageOf(trouble), details);
  }
}

interface SchemaTarget {
  readonly schema: string;
  readonly migrations: readonly Migration[];
}

async function prepareServer(connections: Connections, sql: Statements, wanted: SchemaTarget): Promise<void> {
  const client = await connections.connect();
  try {
    await checkServer(client);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${pg.escapeIdentifier(wanted.schema)}`);
    await migrate(client, sql, wanted);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, reset_val AS setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'server_version_num')",
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  for (const name of ['synchronous_commit', 'fsync']) {
    if (settings.get(name) !== 'off') continue;
    const message = `This database runs with ${name}=off and would lose calls it has acknowledged. Switch it on.`;
    throw new StoreError('unsafe', message);
  }
  if (Number(settings.get('server_version_num')) >= MIN_SERVER_VERSION) return;
  throw new StoreError('failed', 'This PostgreSQL is too old: version 13 or newer is needed.');
}

async function migrate(client: pg.Client, sql: Statements, { schema, migrations }: SchemaTarget): Promise<void> {
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)');
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const from = rows[0]?.version ?? 0;
  const newest = migrations.length;
  if (from > newest) throw newerSchema(`The schema ${schema} of the database`, from, newest);
  if (from === newest) return;
  for (const statement of migrationStatements(migrations, sql, from)) await client.query(statement);
  await client.query('DELETE FROM schema_version');
  await client.query('INSERT INTO schema_version VALUES ($1)', [newest]);
}
