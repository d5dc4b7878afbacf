import type { Kysely } from 'kysely';
import { define } from '../statement.ts';
import type { Tables } from '../tables.ts';

export function blobStatements(db: Kysely<Tables>) {
  return {
    putBlob: define<Tables['blobs']>()((slots) =>
      db
        .insertInto('blobs')
        .values({ hash: slots.hash, bytes: slots.bytes, size: slots.size, put_at: slots.put_at })
        .onConflict((conflict) => conflict.column('hash').doUpdateSet({ put_at: (eb) => eb.ref('excluded.put_at') })),
    ),
    getBlob: define<{ hash: string }>()(({ hash }) => db.selectFrom('blobs').select('bytes').where('hash', '=', hash)),
    oldBlobs: define<{ before: number }>()(({ before }) =>
      db.selectFrom('blobs').select('hash').where('put_at', '<', before),
    ),
    deleteBlob: define<{ hash: string }>()(({ hash }) => db.deleteFrom('blobs').where('hash', '=', hash)),
  };
}
