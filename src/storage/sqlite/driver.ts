import type { DatabaseSync, DatabaseSyncOptions, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Query, Row } from '../sql/statement.ts';

export type Database = DatabaseSync;

/** Opens a database with Node's own SQLite, which is loaded when it is first needed. */
export function openDatabase(path: string, options: Pick<DatabaseSyncOptions, 'readOnly' | 'timeout'> = {}): Database {
  sqlite ??= loadQuietly();
  return new sqlite.DatabaseSync(path, options);
}

export function runPrepared(prepared: StatementSync, { statement, values }: Query): readonly Row[] {
  const bound = values as SQLInputValue[];
  if (statement.returns) return prepared.all(...bound);
  prepared.run(...bound);
  return NO_ROWS;
}

const NO_ROWS: readonly Row[] = [];

let sqlite: typeof import('node:sqlite') | undefined;

const EXPERIMENTAL = 'SQLite is an experimental feature';

/**
 * Node 22 warns on stderr when the module is loaded, and nobody who runs Toolwright can do anything about it. Loading
 * is synchronous, so no other warning can come in between; one that did is shown.
 */
function loadQuietly(): typeof import('node:sqlite') {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith(EXPERIMENTAL)) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    const found: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite');
    if (found !== undefined) return found;
    throw new Error(`Node ${process.version} comes without SQLite: use Node 22.19 or later of 22, or 24 or later.`);
  } finally {
    process.emitWarning = emitWarning;
  }
}
