import { StoreError, type StoreTrouble } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';

/** The primary result codes of SQLite that a person can do something about. */
const TROUBLES: Record<number, readonly [StoreTrouble, string]> = {
  5: ['busy', 'another process holds the database; try again'],
  6: ['busy', 'another process holds the database; try again'],
  8: ['failed', 'the database is read-only: check the permissions of the state directory'],
  10: ['failed', 'the disk reports an error: check it'],
  11: ['damaged', 'the database file is damaged: restore it from a backup'],
  13: ['full', 'the disk is full. Free some space; the store then continues by itself'],
  14: ['failed', 'the database file cannot be opened: check the permissions of the state directory'],
  26: ['damaged', 'the file is not a database, or is damaged: restore it from a backup'],
};

/**
 * Turns an error of the driver into a StoreError that names the next step. Other errors, such as bugs, pass unchanged.
 */
export function sqliteTrouble(error: unknown): unknown {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof code !== 'number') return error;
  const [trouble, advice] = TROUBLES[code & 0xff] ?? ['failed', 'the database refused the write'];
  return new StoreError(trouble, `The store cannot be used: ${advice} (${messageOf(error)}).`, error);
}
