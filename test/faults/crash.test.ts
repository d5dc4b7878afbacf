import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../postgres-server.ts';
import { compileProgram } from './compile-program.ts';
import { brokenPromises, type StoreLocation, startWriter } from './writers.ts';

const writer = compileProgram('test/faults/writer-program.ts');
afterAll(() => rmSync(dirname(dirname(dirname(writer))), { recursive: true }));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crash-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ROUNDS = 10;
const WRITERS = 5;

describe('a writer that is killed', () => {
  test(`loses nothing it acknowledged, ${ROUNDS * WRITERS} times`, { timeout: 120_000 }, async () => {
    const said = new Map<string, string[]>();
    for (let round = 0; round < ROUNDS; round++) {
      const writers = Array.from({ length: WRITERS }, (_, index) =>
        startWriter(writer, { folder }, `r${round}w${index}`),
      );
      for (const { session, lines } of writers) said.set(session, lines);
      await Promise.all(writers.map(({ ready }) => ready));
      await Promise.all(
        writers.map(async ({ child, ended }) => {
          await delay(5 + Math.random() * 60);
          child.kill('SIGKILL');
          await ended;
        }),
      );
    }
    const { acknowledged, broken } = await brokenPromises({ folder }, said);
    expect(broken).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
  });

  const points = ['store.before_commit', 'store.after_commit', 'blob.before_rename', 'blob.after_rename'];
  test.each(points.flatMap((point) => [1, 2, 7].map((count) => [point, count] as const)))(
    'loses nothing when it dies at %s, time %i',
    async (point, count) => {
      const { session, lines, ended } = startWriter(writer, { folder }, 's1', `${point}:${count}`);
      expect(await ended).toBe('SIGKILL');
      expect((await brokenPromises({ folder }, new Map([[session, lines]]))).broken).toEqual([]);
    },
  );
});

describe('a writer that is killed while it writes to PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** A database of its own for each test: writers use the default schema. */
  async function place(): Promise<StoreLocation> {
    const name = `crash_${randomUUID().slice(0, 8)}`;
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return { folder, databaseUrl: server.url.replace(/postgres$/, name) };
  }

  test('loses nothing it acknowledged, 15 times', { timeout: 120_000 }, async () => {
    const where = await place();
    const said = new Map<string, string[]>();
    for (let round = 0; round < 5; round++) {
      const writers = Array.from({ length: 3 }, (_, index) => startWriter(writer, where, `r${round}w${index}`));
      for (const { session, lines } of writers) said.set(session, lines);
      await Promise.all(writers.map(({ ready }) => ready));
      await Promise.all(
        writers.map(async ({ child, ended }) => {
          await delay(20 + Math.random() * 150);
          child.kill('SIGKILL');
          await ended;
        }),
      );
    }
    const { acknowledged, broken } = await brokenPromises(where, said);
    expect(broken).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  });

  test.each(
    ['store.before_commit', 'store.after_commit'].flatMap((point) => [1, 2, 7].map((n) => [point, n] as const)),
  )('loses nothing when it dies at %s, time %i', { timeout: 60_000 }, async (point, count) => {
    const where = await place();
    const { session, lines, ended } = startWriter(writer, where, 's1', `${point}:${count}`);
    expect(await ended).toBe('SIGKILL');
    expect((await brokenPromises(where, new Map([[session, lines]]))).broken).toEqual([]);
  });
});
