import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from '../../src/kernel/call/ledger.ts';
import { openPostgresStore } from '../../src/storage/postgres/open.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';

/** The folder has the trace of effects, and the store too unless it is in a database. */
export interface StoreLocation {
  folder: string;
  databaseUrl?: string;
}

/** A process that runs writer-program.ts, and the lines it printed as acknowledged. */
export interface Writer {
  session: string;
  child: ChildProcess;
  lines: string[];
  ready: Promise<void>;
  ended: Promise<NodeJS.Signals | number | null>;
}

export function startWriter(program: string, place: StoreLocation, session: string, deadlyPoint = ''): Writer {
  const { folder, databaseUrl = '' } = place;
  const child = spawn(process.execPath, [program, folder, databaseUrl, session, deadlyPoint], {
    stdio: ['ignore', 'pipe', 'ignore'],
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

/**
 * Every promise as a question to the log, the calls and the trace of effects, after writers died: what was acknowledged
 * is there, the chain verifies before and after recovery, nothing stays with the dead, and nothing that may run once is
 * offered again after it may have run.
 */
export async function brokenPromises(
  place: StoreLocation,
  said: ReadonlyMap<string, readonly string[]>,
): Promise<{ acknowledged: number; lost: number; broken: string[] }> {
  const opened = await open(place);
  if (!opened.ok) return { acknowledged: 0, lost: 0, broken: [opened.error.message] };
  const { store } = opened.value;
  const broken = [...(await store.verify()).problems];
  let acknowledged = 0;
  let lost = 0;
  for (const [session, lines] of said) {
    const seqs = new Set((await store.events(session)).map(({ seq }) => seq));
    for (const line of lines) {
      const [, seq, id] = /^event (\d+)(?: ended (\S+))?/.exec(line) ?? [];
      if (seq === undefined) continue;
      acknowledged++;
      const state = id === undefined ? 'succeeded' : (await store.call(id))?.state;
      if (seqs.has(Number(seq)) && state === 'succeeded') continue;
      lost++;
      broken.push(`${session} said "${line}", and it is gone`);
    }
  }
  await recoverAll(store);
  broken.push(...(await store.verify()).problems, ...(await callsInDisorder(store, effectsIn(place.folder))));
  await store.close();
  return { acknowledged, lost, broken };
}

const LEASE_MS = 500;

function open({ folder, databaseUrl }: StoreLocation) {
  return databaseUrl === undefined
    ? openSqliteStore(folder)
    : openPostgresStore(databaseUrl, { leaseMs: LEASE_MS, patienceMs: 20_000 });
}

/** A dead process on another machine is only noticed when its lease is over. The bound ends a hang. */
async function recoverAll(store: Ledger): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    await store.recover();
    const { items } = await store.calls({ states: ['requested', 'running'], limit: 1 });
    if (items.length === 0) return;
    await delay(100);
  }
}

async function callsInDisorder(store: Ledger, ran: ReadonlySet<string>): Promise<string[]> {
  const disorder: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.calls({ limit: 1000, ...(after !== undefined && { after }) });
    for (const { id, state, effect, attempt } of page.items) {
      if (!['succeeded', 'interrupted', 'queued'].includes(state)) disorder.push(`${id} was left ${state}`);
      if (ran.has(id) && attempt !== 1) disorder.push(`${id} ran although its record says it never started`);
      if (effect === 'once' && attempt === 1 && state === 'queued') disorder.push(`${id} would run a second time`);
    }
    after = page.next;
  }
  return disorder;
}

function effectsIn(folder: string): ReadonlySet<string> {
  const path = join(folder, 'effects.log');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return new Set(lines.map((line) => line.split(' ')[0] ?? ''));
}
