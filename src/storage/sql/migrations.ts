import { type CreateTableBuilder, type Kysely, type RawBuilder, sql } from 'kysely';
import { StoreError } from '../../kernel/call/store-error.ts';
import type { Dialect } from './statement.ts';
import type { Tables } from './tables.ts';

/** A step of Kysely's schema builder, which compiles to one statement. */
interface Compilable {
  compile(): { sql: string };
}

export type Migration = (db: Kysely<Tables>, dialect: Dialect) => Compilable[];

/**
 * All migrations in order, forward only. The version of a schema is the number of migrations applied to it. A released
 * migration is never changed; a later one corrects it. test/store/version-1 holds a store as the first one left it.
 */
export const MIGRATIONS: readonly Migration[] = [first, second, boundRules, sessionHolds, endsOfCalls, pathDecisions];

/** Returns the statements that bring a schema from version `from` to the newest. */
export function migrationStatements(
  migrations: readonly Migration[],
  { db, dialect }: { db: Kysely<Tables>; dialect: Dialect },
  from: number,
): string[] {
  return migrations.slice(from).flatMap((migration) => migration(db, dialect).map((step) => step.compile().sql));
}

export function newerSchema(where: string, version: number, known: number): StoreError {
  const versions = `it has schema ${version}, and this version knows up to ${known}`;
  return new StoreError('newer', `${where} was written by a newer Toolwright: ${versions}. Update Toolwright.`);
}

function first(db: Kysely<Tables>, dialect: Dialect): Compilable[] {
  const { schema } = db;
  const bytes = dialect === 'sqlite' ? 'blob' : 'bytea';
  return [
    table('sessions')
      .text('id', 'key')
      .int('created_at', 'updated_at', 'last_seq')
      .text('last_hash')
      .int('pruned_seq')
      .text('pruned_hash')
      .done(),
    table('log_head').int('id', 'key').int('pos', 'pruned').done(),
    table('events')
      .int('pos', 'key')
      .text('session')
      .int('seq')
      .text('type')
      .int('version')
      .maybe('text', 'call_id')
      .int('at')
      .maybe('text', 'data', 'blob')
      .text('hash')
      .done(),
    schema.createIndex('events_by_session').on('events').columns(['session', 'seq']).unique(),
    table('calls')
      .text('id', 'key')
      .int('pos')
      .text('session')
      .int('first_seq')
      .maybe('text', 'agent')
      .text('tool')
      .maybe('text', 'key', 'digest')
      .text('effect', 'state')
      .maybe('text', 'args', 'args_blob', 'outcome', 'outcome_blob', 'artifact')
      .int('requested_at')
      .maybe('int', 'started_at', 'finished_at', 'duration_us')
      .int('attempt')
      .maybe('text', 'node')
      .maybe('int', 'node_epoch')
      .done(),
    schema.createIndex('calls_by_pos').on('calls').column('pos').unique(),
    schema.createIndex('calls_by_session').on('calls').columns(['session', 'pos']),
    schema.createIndex('calls_by_key').on('calls').columns(['session', 'key']).unique().where('key', 'is not', null),
    schema.createIndex('calls_by_tool').on('calls').columns(['tool', 'pos']),
    schema.createIndex('calls_unfinished').on('calls').column('state').where(sql.ref('finished_at'), 'is', null),
    table('approvals')
      .text('id', 'key')
      .text('call_id', 'session', 'tool')
      .maybe('text', 'args', 'args_blob')
      .text('reason', 'digest', 'state')
      .int('requested_at')
      .maybe('int', 'expires_at', 'decided_at')
      .maybe('text', 'decided_by', 'message')
      .done(),
    schema.createIndex('approvals_by_state').on('approvals').columns(['state', 'expires_at']),
    schema.createIndex('approvals_by_call').on('approvals').column('call_id'),
    table('rules').text('id', 'key').text('rule', 'verdict').maybe('text', 'saved_by').int('saved_at').done(),
    table('tool_states').text('tool', 'key').int('enabled', 'changed_at').done(),
    table('nodes').text('id', 'key').int('epoch').text('host').int('pid', 'started_at', 'lease_until', 'batch').done(),
    table('store_clock').text('boot_id', 'key').int('wall_ms', 'uptime_ms').done(),
    table('blobs').text('hash', 'key').other(sql.raw(bytes), 'bytes').int('size', 'put_at').done(),
    db.insertInto('log_head').values({ id: sql.lit(1), pos: sql.lit(0), pruned: sql.lit(0) }),
  ];

  function table(name: string) {
    return new Columns(schema.createTable(name), dialect);
  }
}

/** Adds the shown preview and the edited arguments to approvals, and the description of sessions. */
function second(db: Kysely<Tables>): Compilable[] {
  const { schema } = db;
  return [
    ...['asked', 'decision', 'decision_blob'].map((name) => schema.alterTable('approvals').addColumn(name, 'text')),
    schema
      .createTable('session_info')
      .addColumn('id', 'text', (column) => column.notNull().primaryKey())
      .addColumn('workspace', 'text', (column) => column.notNull())
      .addColumn('title', 'text')
      .addColumn('agent', 'text'),
  ];
}

/** Limits a rule to one workspace. Earlier rules keep applying in all of them. */
function boundRules({ schema }: Kysely<Tables>): Compilable[] {
  return [schema.alterTable('rules').addColumn('workspace', 'text')];
}

/** Adds the process that works on a session. */
function sessionHolds({ schema }: Kysely<Tables>, dialect: Dialect): Compilable[] {
  const columns = new Columns(schema.createTable('session_holds'), dialect);
  return [columns.text('session', 'key').text('node').int('node_epoch').done()];
}

/** Adds an index of the events that end calls, because they hold the outcomes. */
function endsOfCalls({ schema }: Kysely<Tables>): Compilable[] {
  const ends = schema.createIndex('events_of_ends').on('events').column('call_id');
  return [ends.where(sql.ref('type'), '=', sql.lit('call.finished'))];
}

/** Adds the decisions of people about paths. */
function pathDecisions({ schema }: Kysely<Tables>, dialect: Dialect): Compilable[] {
  const columns = new Columns(schema.createTable('path_decisions'), dialect);
  const named = columns.text('id', 'key').text('workspace', 'path', 'kind').maybe('text', 'digest');
  return [named.text('decided_by').int('decided_at').done()];
}

type AnyTable = CreateTableBuilder<string, string>;

class Columns {
  #table: AnyTable;
  readonly #int: 'integer' | 'bigint';

  constructor(table: CreateTableBuilder<string, never>, dialect: Dialect) {
    this.#table = table as unknown as AnyTable;
    // Integers of SQLite have 64 bits anyway, and only `integer` makes a primary key the row id.
    this.#int = dialect === 'sqlite' ? 'integer' : 'bigint';
  }

  text(...names: [string, 'key'] | string[]): this {
    return this.#add('text', names);
  }
  int(...names: [string, 'key'] | string[]): this {
    return this.#add(this.#int, names);
  }
  maybe(type: 'text' | 'int', ...names: string[]): this {
    for (const name of names) this.#table = this.#table.addColumn(name, type === 'text' ? 'text' : this.#int);
    return this;
  }
  other(type: RawBuilder<unknown>, name: string): this {
    this.#table = this.#table.addColumn(name, type, (column) => column.notNull());
    return this;
  }
  done(): AnyTable {
    return this.#table;
  }

  #add(type: 'text' | 'integer' | 'bigint', names: string[]): this {
    const [first = '', second] = names;
    if (second === 'key' && names.length === 2) {
      this.#table = this.#table.addColumn(first, type, (column) => column.notNull().primaryKey());
      return this;
    }
    for (const name of names) this.#table = this.#table.addColumn(name, type, (column) => column.notNull());
    return this;
  }
}
