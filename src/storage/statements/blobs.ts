import { type Kysely, sql } from 'kysely';
import { define } from '../sql/statement.ts';
import type { Tables } from '../sql/tables.ts';

/** Blobs are in a database only where several machines share it, so its clock is the one they have in common. */
const DATABASE_NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

export function blobStatements(db: Kysely<Tables>) {
  return {
    putBlob: define<Omit<Tables['blobs'], 'put_at'>>()((slots) =>
      db
        .insertInto('blobs')
        .values({ hash: slots.hash, bytes: slots.bytes, size: slots.size, put_at: DATABASE_NOW })
        .onConflict((conflict) => conflict.column('hash').doUpdateSet({ put_at: (eb) => eb.ref('excluded.put_at') })),
    ),
    getBlob: define<{ hash: string }>()(({ hash }) => db.selectFrom('blobs').select('bytes').where('hash', '=', hash)),
    blobSizes: define<void>()(() => db.selectFrom('blobs').select(['hash', 'size'])),
    oldBlobs: define<{ before: number }>()(({ before }) =>
      db.selectFrom('blobs').select('hash').where('put_at', '<', before),
    ),
    /** Deletes nothing if the blob was put again since it was found to be old. */
    deleteBlob: define<{ hash: string; before: number }>()(({ hash, before }) =>
      db.deleteFrom('blobs').where('hash', '=', hash).where('put_at', '<', before).returning('hash'),
    ),
  };
}
