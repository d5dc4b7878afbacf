import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/kernel/call/ledger.ts';
import type { Result } from '../../src/kernel/result.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { MIGRATIONS, type Migration } from '../../src/storage/sql/migrations.ts';
import { openDatabase } from '../../src/storage/sqlite/driver.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import type { OpenStore } from '../../src/storage/store-and-blobs.ts';
import { decided, finished, requestedCall, started } from '../../src/testing/sample-calls.ts';
import { type PostgresServer, startPostgres } from '../postgres-server.ts';

/** A store as the first version left it: two sessions, an open question, a call that its process died in. */
const read = (name: string) => readFileSync(join(import.meta.dirname, 'version-1', name), 'utf8');

/** A migration as a later version might have it: a column that old rows leave empty, an index, a table. */
const later: Migration = ({ schema }) => [
  schema.alterTable('approvals').addColumn('of_a_later_version', 'text'),
  schema.createIndex('later_calls_by_agent').on('calls').columns(['agent', 'pos']),
  schema.createTable('later_notes').addColumn('id', 'text', (column) => column.notNull().primaryKey()),
];
const LATER = [...MIGRATIONS, later];

interface Place {
  /** Makes a store of the first version, as it was then. */
  make(): Promise<void>;
  open(migrations?: readonly Migration[]): Promise<Result<OpenStore>>;
}

let folder: string;
let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'upgrade-'));
  schemas++;
});
afterEach(() => rmSync(folder, { recursive: true }));

const sqlite: Place = {
  async make() {
    const db = openDatabase(join(folder, 'state.db'));
    db.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; ${read('sqlite.sql')} ${read('data.sql')}`);
    db.exec(`PRAGMA application_id = ${0x54575254}; PRAGMA user_version = 1`);
    db.close();
  },
  open: (migrations) => openSqliteStore(folder, { ...(migrations && { migrations }) }),
};

const postgres: Place = {
  async make() {
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`CREATE SCHEMA upgrade_${schemas}; SET search_path TO upgrade_${schemas}`);
    await client.query(`${read('postgres.sql')} ${read('data.sql')}`);
    await client.query('CREATE TABLE schema_version (version integer NOT NULL); INSERT INTO schema_version VALUES (1)');
    await client.end();
  },
  open: (migrations) =>
    openPostgresStore(server.url, { schema: `upgrade_${schemas}`, ...(migrations && { migrations }) }),
};

async function opened(place: Place, migrations?: readonly Migration[]): Promise<Ledger> {
  const result = await place.open(migrations);
  if (!result.ok) throw new Error(result.error.message);
  return result.value.store;
}

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', postgres],
])('a %s store of the first version', (_name, place) => {
  beforeEach(() => place.make());

  test.each([
    ['this version', undefined],
    ['a later one', LATER],
  ])('is read, verified and written on by %s', async (_version, migrations) => {
    const store = await opened(place, migrations);
    expect(await store.verify()).toEqual({ sessions: 3, events: 14, problems: [] });
    expect(await store.call('done')).toMatchObject({ state: 'succeeded', key: 'k1', durationMs: 1.5 });
    expect((await store.submit(requestedCall({ session: 'a', key: 'k1' }))).call.id).toBe('done');
    expect(await store.rules()).toMatchObject([{ id: 'r1', verdict: 'allow' }]);
    expect((await store.toolStates()).get('bash')).toBe(false);

    expect((await store.recover()).map(({ callId, type }) => [callId, type])).toEqual([['left', 'call.finished']]);
    const [question] = await store.approvals({ state: 'pending' });
    expect(question).toMatchObject({ id: 'a1', args: { content: "it's" } });
    const asking = requestedCall({ id: 'asking', session: 'a' });
    expect(await store.decide(decided(asking, 'a1'))).not.toBe(null);
    await store.move(...started(asking));
    await store.move(...finished(asking));
    expect((await store.events('a')).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await store.verify()).problems).toEqual([]);
    await store.close();

    const again = await opened(place, migrations);
    expect((await again.call('asking'))?.state).toBe('succeeded');
    await again.close();
  });

  test('is refused by the version that wrote it after a later version migrated it', async () => {
    await (await opened(place, LATER)).close();
    const refused = await place.open();
    expect(refused).toMatchObject({ ok: false, error: { details: { trouble: 'newer' } } });
    const versions = `it has schema ${LATER.length}, and this version knows up to ${MIGRATIONS.length}`;
    expect(!refused.ok && refused.error.message).toContain(versions);
    const store = await opened(place, LATER);
    expect((await store.verify()).problems).toEqual([]);
    await store.close();
  });

  test('stays as it was when a migration fails', async () => {
    const broken: Migration = ({ schema }) => [
      schema.createTable('later_notes').addColumn('id', 'text'),
      schema.createTable('calls').addColumn('id', 'text'),
    ];
    expect((await place.open([...MIGRATIONS, broken])).ok).toBe(false);
    const store = await opened(place, LATER);
    expect(await store.verify()).toMatchObject({ events: 14, problems: [] });
    await store.close();
  });
});
