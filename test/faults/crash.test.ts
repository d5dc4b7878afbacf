import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';
import { brokenPromises, startWriter } from './writers.ts';

const writer = compiled('test/faults/writer.ts');
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
      const writers = Array.from({ length: WRITERS }, (_, index) => startWriter(writer, folder, `r${round}w${index}`));
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
    const { acknowledged, broken } = await brokenPromises(folder, said);
    expect(broken).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
  });

  const points = ['store.before_commit', 'store.after_commit', 'blob.before_rename', 'blob.after_rename'];
  test.each(points.flatMap((point) => [1, 2, 7].map((count) => [point, count] as const)))(
    'loses nothing when it dies at %s, time %i',
    async (point, count) => {
      const { session, lines, ended } = startWriter(writer, folder, 's1', `${point}:${count}`);
      expect(await ended).toBe('SIGKILL');
      expect((await brokenPromises(folder, new Map([[session, lines]]))).broken).toEqual([]);
    },
  );
});
