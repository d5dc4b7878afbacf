import { closeSync, openSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { makeDurableFolder } from '../../host/private-folder.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Clock } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { FileBlobs } from '../blobs/file-blobs.ts';
import { runWork } from '../engine.ts';
import { type BootClock, storeClock } from '../log/store-clock.ts';
import { MIGRATIONS, type Migration, migrationStatements } from '../sql/migrations.ts';
import { SqlStore } from '../sql/sql-store.ts';
import { first, type Query, type Row } from '../sql/statement.ts';
import { createStatements, type Statements } from '../sql/statements.ts';
import type { OpenStore } from '../store-and-blobs.ts';
import { APPLICATION_ID, checkFile, checkOwner } from './check-file.ts';
import { type Database, openDatabase, runPrepared } from './driver.ts';
import { SqliteEngine } from './engine.ts';
import { keepPrivate } from './keep-private.ts';
import { NodeSlots } from './node-slots.ts';
import { sqliteTrouble } from './trouble.ts';

export interface SqliteOptions {
  clock?: Clock;
  /** The boot clock of the machine; tests pass one to set the wall clock. */
  machine?: BootClock;
  /** How many writes share a commit at most. For measuring: 1 gives every write a commit of its own. */
  groupSize?: number;
  /** The migrations to apply. Tests pass others, to open the store of an earlier version. */
  migrations?: readonly Migration[];
}

/** Files that this process has open. Reading one through the file system would drop the locks of SQLite on it. */
const open = new Map<string, number>();

/**
 * Opens the store in a state directory (`state.db`, `blobs/`, `nodes/`), creating it if need be. Fails with
 * NOT_CONFIGURED and `details.trouble` when the existing files must not be used, and leaves them unchanged.
 */
export async function openSqliteStore(directory: string, options: SqliteOptions = {}): Promise<Result<OpenStore>> {
  const { migrations = MIGRATIONS } = options;
  let db: Database | undefined;
  let slots: NodeSlots | undefined;
  try {
    makeDurableFolder(directory);
    const path = join(realpathSync(directory), 'state.db');
    if (!open.has(path)) {
      checkFile(path, migrations.length);
      keepPrivate(dirname(path));
      closeSync(openSync(path, 'a', 0o600));
    }
    db = openDatabase(path, { timeout: 5000 });
    prepareDatabase(db, path, migrations);
    slots = new NodeSlots(join(directory, 'nodes'));
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

/**
 * Applies the settings of the file first, because some work only before it has tables; then migrates in one
 * transaction.
 */
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
  const row = runWork(first(sql.startNode, values), run);
  return row?.epoch ?? 1;
}

function clockOf(run: Run, sql: Statements, { clock, machine }: SqliteOptions): () => number {
  return storeClock(remember, clock, machine);

  function remember(boot: string, uptime: number, wall: number) {
    runWork(first(sql.startClock, { boot, wall, uptime }), run);
    runWork(first(sql.forgetOtherClocks, { boot }), run);
    const row = runWork(first(sql.storeClock, { boot }), run);
    return row === undefined ? { wall, uptime } : { wall: row.wall_ms, uptime: row.uptime_ms };
  }
}

/** A failure fails the opening, which closes the database and so rolls back. */
function inOneCommit<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  const done = work();
  db.exec('COMMIT');
  return done;
}

type Run = (query: Query) => readonly Row[];

function runOn(db: Database): Run {
  return (query) => runPrepared(db.prepare(query.statement.sql), query);
}
