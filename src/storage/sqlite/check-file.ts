import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../kernel/call/store-error.ts';
import { newerSchema } from '../sql/migrations.ts';
import { type Database, openDatabase } from './driver.ts';
import { sqliteTrouble } from './trouble.ts';

/** Marks a database as a store of Toolwright; the command `file` shows it. The letters "TWRT". */
export const APPLICATION_ID = 0x54575254;

const MAGIC = 'SQLite format 3\0';
/** Files up to this size are checked completely when opened; `verify` checks larger ones. */
const CHECK_WHOLE_BYTES = 4 * 1024 * 1024;

/**
 * Throws a StoreError for a file that must not be used, before anything can write to it. A missing or empty file
 * becomes a new store if no other part of a store lies beside it. `newest` is the newest schema version that this
 * release knows. Call it only while this process does not have the file open.
 */
export function checkFile(path: string, newest: number): void {
  // Read before the size: a process that is creating the store makes these after the first page of the file.
  const left = ['state.db-wal', 'blobs', 'nodes'].filter((name) => isFilled(join(path, '..', name)));
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 && left.length === 0) return;
  if (size === 0)
    throw new StoreError(
      'damaged',
      `${path} is empty or missing, but ${left.join(', ')} of its store is there. ${LOST}`,
    );
  const header = readHeader(path);
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new StoreError('foreign', `${path} is not a database of Toolwright. ${ELSEWHERE}`);
  }
  const applicationId = header.readUInt32BE(68);
  const emptySchema = header.readUInt32BE(40) === 0;
  if (applicationId !== APPLICATION_ID && !emptySchema) {
    throw new StoreError('foreign', `${path} is a database of another program. ${ELSEWHERE}`);
  }
  const version = header.readUInt32BE(60);
  if (version > newest) throw newerSchema(path, version, newest);
  checkLength(path, size, header);
  checkPages(path, { size, newest });
}

const LOST = 'Nothing was changed. Restore the file from a backup, or move the rest away too to start a new store.';

function isFilled(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return found.isDirectory() ? readdirSync(path).length > 0 : found.size > 0;
}

const ELSEWHERE = 'It was not changed. Move it away, or choose another state directory.';

function readHeader(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(100);
    const length = readSync(file, header, 0, 100, 0);
    if (length < 100 || fstatSync(file).size < 512) {
      throw new StoreError('damaged', `${path} is too short to be a database. ${RESTORE}`);
    }
    return header;
  } finally {
    closeSync(file);
  }
}

const RESTORE = 'It was not changed. Restore it from a backup, or move it away to start a new store.';

/** Throws for a file shorter than its header says. With a write-ahead log that is normal: the log holds the rest. */
function checkLength(path: string, size: number, header: Buffer): void {
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  const countIsCurrent = header.readUInt32BE(24) === header.readUInt32BE(92);
  if (hasLog || !countIsCurrent || size >= pages * pageSize) return;
  const lost = pages * pageSize - size;
  throw new StoreError('damaged', `${path} was cut off: ${lost} bytes are missing at its end. ${RESTORE}`);
}

function checkPages(path: string, { size, newest }: { size: number; newest: number }): void {
  let problems: string[];
  try {
    const db = openDatabase(path, { readOnly: true, timeout: 5000 });
    try {
      checkOwner(db, path, newest);
      const check =
        size <= CHECK_WHOLE_BYTES ? 'PRAGMA quick_check(3)' : 'SELECT count(*) AS quick_check FROM log_head';
      const found = db.prepare(check).all() as { quick_check: string | number }[];
      problems = found.map(({ quick_check }) => String(quick_check)).filter((line) => line !== 'ok' && line !== '1');
    } finally {
      db.close();
    }
  } catch (error) {
    const trouble = sqliteTrouble(error);
    if (!(trouble instanceof StoreError)) throw error;
    if (trouble.trouble === 'busy') return;
    if (trouble.trouble === 'damaged') throw new StoreError('damaged', `${path} is damaged. ${RESTORE}`, error);
    throw trouble;
  }
  if (problems.length > 0) throw new StoreError('damaged', `${path} is damaged: ${problems.join('; ')}. ${RESTORE}`);
}

/**
 * Throws for the database of another program. The header alone is no proof: the last writes may be in the write-ahead
 * log.
 */
export function checkOwner(db: Database, path: string, newest: number): void {
  // Tables are counted first: another process may create the store between these reads, with its mark and its tables.
  const { tables } = db.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as { tables: number };
  const { application_id } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (application_id !== APPLICATION_ID && tables > 0) {
    throw new StoreError('foreign', `${path} is a database of another program. ${ELSEWHERE}`);
  }
  if (user_version > newest) throw newerSchema(path, user_version, newest);
}
