import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../src/kernel/ledger.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { compiled } from './compiled.ts';

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
      const writers = Array.from({ length: WRITERS }, (_, index) => start(`r${round}w${index}`));
      for (const { session, lines, ended } of writers) {
        said.set(session, lines);
        void ended;
      }
      await Promise.all(writers.map(({ ready }) => ready));
      await Promise.all(
        writers.map(async ({ child, ended }) => {
          await delay(5 + Math.random() * 60);
          child.kill('SIGKILL');
          await ended;
        }),
      );
    }
    await checkAfter(said);
  });

  const points = ['store.before_commit', 'store.after_commit', 'blob.before_rename', 'blob.after_rename'];
  test.each(points.flatMap((point) => [1, 2, 7].map((count) => [point, count] as const)))(
    'loses nothing when it dies at %s, time %i',
    async (point, count) => {
      const { session, lines, ended } = start('s1', `${point}:${count}`);
      expect(await ended).toBe('SIGKILL');
      await checkAfter(new Map([[session, lines]]));
    },
  );
});

interface Writer {
  session: string;
  child: ChildProcess;
  lines: string[];
  ready: Promise<void>;
  ended: Promise<NodeJS.Signals | number | null>;
}

function start(session: string, deadlyPoint = ''): Writer {
  const child = spawn(process.execPath, [writer, folder, session, deadlyPoint], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let text = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      const whole = text.split('\n');
      text = whole.pop() ?? '';
      lines.push(...whole);
      resolve();
    });
    child.once('close', () => resolve());
  });
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  return { session, child, lines, ready, ended };
}

/** Every invariant, as a question to the log, the calls and the trace of effects. */
async function checkAfter(said: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  expect((await store.verify()).problems).toEqual([]);

  let acknowledged = 0;
  for (const [session, lines] of said) {
    const events = await store.events(session);
    const seqs = new Set(events.map(({ seq }) => seq));
    for (const line of lines) {
      const [, seq] = /^event (\d+)/.exec(line) ?? [];
      if (seq === undefined) continue;
      acknowledged++;
      expect(seqs.has(Number(seq)), `${session}: ${line}`).toBe(true);
    }
    for (const line of lines) {
      const [, id] = /ended (\S+)/.exec(line) ?? [];
      if (id !== undefined) expect((await store.call(id))?.state, line).toBe('succeeded');
    }
  }
  if (said.size > 1) expect(acknowledged).toBeGreaterThan(100);

  await store.recover();
  expect((await store.verify()).problems).toEqual([]);
  await checkCalls(store);
  await store.close();
}

async function checkCalls(store: Ledger): Promise<void> {
  const effects = existsSync(join(folder, 'effects.log')) ? readFileSync(join(folder, 'effects.log'), 'utf8') : '';
  const ran = new Set(effects.split('\n').map((line) => line.split(' ')[0]));
  for (let after: string | undefined; ; ) {
    const page = await store.calls({ limit: 1000, ...(after !== undefined && { after }) });
    for (const { id, state, effect, attempt } of page.items) {
      // Nothing is left in the hands of the dead, what ran was recorded before it ran, and what may run once is never
      // offered again after it may have run.
      expect(['succeeded', 'interrupted', 'queued']).toContain(state);
      if (ran.has(id)) expect(attempt).toBe(1);
      if (effect === 'once' && attempt === 1) expect(state).not.toBe('queued');
    }
    if (page.next === null) return;
    after = page.next;
  }
}
