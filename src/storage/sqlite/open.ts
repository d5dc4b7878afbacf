import { closeSync, openSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../../kernel/error.ts';
import type { Clock } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { driveNow } from '../engine.ts';
import { FileBlobs } from '../blobs/file-blobs.ts';
import { makeFolder } from '../make-folder.ts';
import { MIGRATIONS, type Migration, migrationStatements } from '../sql/migrations.ts';
import type { OpenStore } from '../open-store.ts';
import { SqlStore } from '../sql/sql-store.ts';
import { first, type Query, type Row } from '../sql/statement.ts';
import { createStatements, type Statements } from '../sql/statements.ts';
import { type Machine, storeClock } from '../log/store-clock.ts';
import { APPLICATION_ID, checkFile, checkOwner } from './check-file.ts';
import { type Database, sqliteDriver } from './driver.ts';
import { SqliteEngine } from './engine.ts';
import { keepPrivate } from './keep-private.ts';
import { NodeSlots } from './node-slots.ts';
import { sqliteTrouble } from './trouble.ts';

export interface SqliteOptions {
  clock?: Clock;
  /** What is known of the machine's own clock; for tests of what happens when the wall clock is set. */
  machine?: Machine;
  /** How many writes share a commit at most. For measuring: 1 gives every write a commit of its own. */
  groupSize?: number;
  /** What makes the schema. For tests of what a later version does with the store of an earlier one. */
  migrations?: readonly Migration[];
}

/** Files that this process has open. Looking at one with the file system would drop SQLite's locks on it. */
const open = new Map<string, number>();

/**
 * Opens, and creates if need be, the store in a state directory: `state.db`, `blobs/` and `nodes/`. NOT_CONFIGURED,
 * with `details.trouble`, when what is there must not be used; it is then as it was.
 */
export async function openSqliteStore(directory: string, options: SqliteOptions = {}): Promise<Result<OpenStore>> {
  const { migrations = MIGRATIONS } = options;
  let db: Database | undefined;
  let slots: NodeSlots | undefined;
  try {
    const driver = await sqliteDriver();
    makeFolder(directory);
    const path = join(realpathSync(directory), 'state.db');
    if (!open.has(path)) {
      checkFile(driver, path, migrations.length);
      keepPrivate(dirname(path));
      closeSync(openSync(path, 'a', 0o600));
    }
    db = new driver.DatabaseSync(path, { timeout: 5000 });
    prepareDatabase(db, path, migrations);
    slots = new NodeSlots(driver, join(directory, 'nodes'));
    const store = start(path, db, slots, options);
    return ok(store);
  } catch (error) {
    db?.close();
    slots?.close();
    const trouble = sqliteTrouble(error);
    const details = trouble instanceof StoreError ? { trouble: trouble.trouble } : {};
    const message = trouble instanceof StoreError ? trouble.message : `The store in ${directory}: ${messageOf(error)}`;
    return fail('NOT_CONFIGURED', message, details);
  }
}

/** Settings of the file first, as they hold only before it has tables; then the schema, in one transaction. */
function prepareDatabase(db: Database, path: string, migrations: readonly Migration[]): void {
  db.exec('PRAGMA busy_timeout = 5000');
  db.exec('PRAGMA auto_vacuum = INCREMENTAL');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  // On macOS a plain sync leaves data in the drive's own cache; elsewhere this changes nothing.
  db.exec('PRAGMA fullfsync = ON');
  db.exec('PRAGMA checkpoint_fullfsync = ON');
  db.exec('PRAGMA wal_autocheckpoint = 1000');
  const newest = migrations.length;
  checkOwner(db, path, newest);
  if (schemaVersion(db) === newest) return;
  inOneCommit(db, () => {
    checkOwner(db, path, newest);
    const from = schemaVersion(db);
    for (const sql of migrationStatements(migrations, createStatements('sqlite'), from)) db.exec(sql);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${newest}`);
  });
}

function schemaVersion(db: Database): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

function start(path: string, db: Database, slots: NodeSlots, options: SqliteOptions): OpenStore {
  const sql = createStatements('sqlite');
  const wall = () => (options.clock ?? Date).now();
  const run = runOn(db);
  const { now, epoch } = inOneCommit(db, () => {
    const now = clockOf(run, sql, options);
    return { now, epoch: startNode(run, sql, slots.id, now()) };
  });
  const node = { id: slots.id, epoch };
  const blobs = new FileBlobs(join(path, '..', 'blobs'), now);
  const engine = new SqliteEngine({ db, sql, blobs, node, slots, now, wall, groupSize: options.groupSize });
  open.set(path, (open.get(path) ?? 0) + 1);
  const head = engine.read(() => first(sql.logHead, undefined))?.pos ?? 0;
  const store = new SqlStore(engine, {
    head,
    onClose: () => {
      const left = (open.get(path) ?? 1) - 1;
      if (left === 0) open.delete(path);
      else open.set(path, left);
    },
  });
  return { store, blobs };
}

function startNode(run: Run, sql: Statements, id: string, at: number): number {
  const values = { id, host: hostname(), pid: process.pid, started_at: at, lease_until: 0 };
  const row = driveNow(first(sql.startNode, values), run);
  return row?.epoch ?? 1;
}

function clockOf(run: Run, sql: Statements, { clock, machine }: SqliteOptions): () => number {
  return storeClock(remember, clock, machine);

  function remember(boot: string, uptime: number, wall: number) {
    driveNow(first(sql.startClock, { boot, wall, uptime }), run);
    driveNow(first(sql.forgetOtherClocks, { boot }), run);
    const row = driveNow(first(sql.storeClock, { boot }), run);
    return row === undefined ? { wall, uptime } : { wall: row.wall_ms, uptime: row.uptime_ms };
  }
}

/** Where it fails, opening fails: that closes the database, and so undoes what was not committed. */
function inOneCommit<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  const done = work();
  db.exec('COMMIT');
  return done;
}

type Run = (query: Query) => readonly Row[];

function runOn(db: Database): Run {
  return ({ statement, values }) => {
    const prepared = db.prepare(statement.sql);
    if (statement.returns) return prepared.all(...values);
    prepared.run(...values);
    return [];
  };
}
