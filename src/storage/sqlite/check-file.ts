import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../kernel/call/store-error.ts';
import { newerSchema } from '../newer-schema.ts';
import type { Database, sqliteDriver } from './driver.ts';
import { sqliteTrouble } from './trouble.ts';

type Driver = Awaited<ReturnType<typeof sqliteDriver>>;

/** Marks a database as ours; `file` shows it. The letters «TWRT». */
export const APPLICATION_ID = 0x54575254;

const MAGIC = 'SQLite format 3\0';
/** Files up to this size are read through before they are used; `verify` does it for larger ones. */
const CHECK_WHOLE_BYTES = 4 * 1024 * 1024;

/**
 * Throws a StoreError for a file that must not be used, before anything could write to it. A file that does not exist
 * or is empty is fine when nothing of a store lies beside it: it becomes a new one. `newest` is the schema this version
 * knows. Call it only while this process does not have the file open.
 */
export function checkFile(driver: Driver, path: string, newest: number): void {
  // Before the size: another process that creates the store right now makes these after the file has its first page.
  const left = ['state.db-wal', 'blobs', 'nodes'].filter((name) => isFilled(join(path, '..', name)));
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 && left.length === 0) return;
  if (size === 0)
    throw new StoreError('damaged', `${path} is empty or gone, but ${left.join(', ')} of it is left. ${LOST}`);
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
  checkPages(driver, path, { size, newest });
}

const LOST = 'Nothing was touched. Restore it from a backup, or move the rest away too to start a new one.';

function isFilled(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return found.isDirectory() ? readdirSync(path).length > 0 : found.size > 0;
}

const ELSEWHERE = 'It was not touched. Move it away, or choose another state directory.';

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

const RESTORE = 'It was not touched. Restore it from a backup, or move it away to start a new one.';

/** A file shorter than it says lost its end. With a log beside it that is normal: the log brings the rest. */
function checkLength(path: string, size: number, header: Buffer): void {
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  const countIsCurrent = header.readUInt32BE(24) === header.readUInt32BE(92);
  if (hasLog || !countIsCurrent || size >= pages * pageSize) return;
  const lost = pages * pageSize - size;
  throw new StoreError('damaged', `${path} was cut off: ${lost} bytes are missing at its end. ${RESTORE}`);
}

function checkPages(driver: Driver, path: string, { size, newest }: { size: number; newest: number }): void {
  let problems: string[];
  try {
    const db = new driver.DatabaseSync(path, { readOnly: true, timeout: 5000 });
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

/** Throws for another program's database. The header alone does not tell: what was written last may be in the log. */
export function checkOwner(db: Database, path: string, newest: number): void {
  // Tables first: another process may create the store between these reads, and its mark comes with its tables.
  const { tables } = db.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as { tables: number };
  const { application_id } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (application_id !== APPLICATION_ID && tables > 0) {
    throw new StoreError('foreign', `${path} is a database of another program. ${ELSEWHERE}`);
  }
  if (user_version > newest) throw newerSchema(path, user_version, newest);
}
