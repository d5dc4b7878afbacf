import type { DatabaseSyncInstance } from '@photostructure/sqlite';

export type Database = DatabaseSyncInstance;

interface Driver {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean; timeout?: number }) => Database;
}

let loaded: Promise<Driver> | undefined;

/** `node:sqlite` where the runtime has it, otherwise the package that brings the same API for older ones. */
export function sqliteDriver(): Promise<Driver> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Driver> {
  const builtIn = process.getBuiltinModule?.('node:sqlite' as 'node:fs') as unknown as Driver | undefined;
  return builtIn ?? ((await import('@photostructure/sqlite')) as unknown as Driver);
}
