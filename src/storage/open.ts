import type { Clock } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { OpenStore } from './open-store.ts';

/** Where the store is: a state directory of this machine, or a PostgreSQL database that several machines share. */
export type StorePlace = { directory: string; clock?: Clock } | { databaseUrl: string; schema?: string };

/** Opens the store and creates it if need be. Only the driver that is needed is loaded. */
export async function openStore(place: StorePlace): Promise<Result<OpenStore>> {
  if ('databaseUrl' in place) {
    const { databaseUrl, ...options } = place;
    const { openPostgresStore } = await import('./postgres/open.ts');
    return openPostgresStore(databaseUrl, options);
  }
  const { directory, ...options } = place;
  const { openSqliteStore } = await import('./sqlite/open.ts');
  return openSqliteStore(directory, options);
}
