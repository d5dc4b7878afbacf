import type { Clock } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { OpenStore } from './store-and-blobs.ts';

/** The location of a store: a state directory on this machine, or a PostgreSQL database shared by several machines. */
export type StorePlace = { directory: string; clock?: Clock } | { databaseUrl: string; schema?: string };

/** Opens the store, creating it if need be. Loads only the driver that is needed. */
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
