import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPostgres } from '../postgres-server.ts';
import { compileProgram } from './compile-program.ts';
import type { Command, Report } from './executor-program.ts';

const program = compileProgram('test/faults/executor-program.ts');
afterAll(() => rmSync(dirname(dirname(dirname(program))), { recursive: true }));

let folder: string;
let peers: Peer[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'processes-'));
  peers = [];
});
afterEach(async () => {
  await Promise.all(peers.map((peer) => peer.kill()));
  rmSync(folder, { recursive: true });
});

test('four processes share one directory: each hears the others, none touches what a living one does', async () => {
  const [server, mcp, otherMcp] = await Promise.all([peer(), peer(), peer()]);
  await server.ask({ do: 'follow' });
  await mcp.ask({ do: 'call', tool: 'once', name: 'long', ms: 60_000, wait: false });
  await otherMcp.ask({ do: 'call', tool: 'once', name: 'quick', ms: 0, wait: true });
  const short = await peer();
  expect(await short.ask({ do: 'recover' })).toMatchObject({ events: [] });
  expect(await short.ask({ do: 'call', tool: 'pure', name: 'short', ms: 0, wait: true })).toMatchObject({
    text: `short by ${short.node}`,
  });
  await short.leave();
  await until(() => server.heard.length >= 8);
  expect(server.heard.map(({ type }) => type).sort()).toEqual([
    'call.finished',
    'call.finished',
    'call.requested',
    'call.requested',
    'call.requested',
    'call.started',
    'call.started',
    'call.started',
  ]);

  await mcp.kill();
  expect(await server.ask({ do: 'recover' })).toMatchObject({ events: ['call.finished'] });
  expect(effects().sort()).toEqual(['long', 'quick', 'short']);
  expect(new Set([server.node, mcp.node, otherMcp.node, short.node]).size).toBe(4);
});

describe('events recorded by another process arrive within 100 ms, without polling', () => {
  test('in a directory', { timeout: 60_000 }, async () => {
    expect(await bestMedian(await peer(), await peer())).toBeLessThan(100);
  });

  test('in PostgreSQL', { timeout: 60_000 }, async () => {
    const server = await startPostgres();
    try {
      const [listener, speaker] = [await peer(server.url), await peer(server.url)];
      expect(await bestMedian(listener, speaker)).toBeLessThan(100);
      await Promise.all([listener.kill(), speaker.kill()]);
    } finally {
      await server.stop();
    }
  });

  /** From the time an event carries to the time it is heard, so the commit is in it. A busy machine gets several tries. */
  async function bestMedian(listener: Peer, speaker: Peer): Promise<number> {
    await listener.ask({ do: 'follow' });
    const medians: number[] = [];
    for (let round = 0; round < 10 && !medians.some((median) => median < 100); round++) {
      const from = listener.heard.length;
      for (let index = 0; index < 9; index++) {
        const before = listener.heard.length;
        await speaker.ask({ do: 'call', tool: 'pure', name: `n${index}`, ms: 0, wait: true });
        await until(() => listener.heard.length >= before + 3);
      }
      const delays = listener.heard.slice(from).map(({ afterMs }) => afterMs);
      expect(delays.length).toBe(27);
      medians.push(delays.sort((a, b) => a - b)[13] ?? Number.POSITIVE_INFINITY);
    }
    return Math.min(...medians);
  }
});

test('after a kill, calls of class once never run again, others run once more, each in one process', async () => {
  const victim = await peer();
  for (const tool of ['once', 'pure', 'idempotent'] as const) {
    await victim.ask({ do: 'call', tool, name: tool, ms: 60_000, wait: false });
  }
  await until(() => effects().length === 3);
  await victim.kill();

  const [one, two] = await Promise.all([peer(), peer()]);
  const recovered = await Promise.all([one.ask({ do: 'recover' }), two.ask({ do: 'recover' })]);
  expect(recovered.flatMap(({ events = [] }) => events).sort()).toEqual([
    'call.finished',
    'call.requeued',
    'call.requeued',
  ]);
  void one.ask({ do: 'resume' });
  void two.ask({ do: 'resume' });
  await until(() => effects().length === 5);
  await delay(100);
  expect(effects().sort()).toEqual(['idempotent', 'idempotent', 'once', 'pure', 'pure']);
});

test('a repeated request waits for the process that has the call, and takes it over when that one ends', async () => {
  const [first, second] = await Promise.all([peer(), peer()]);
  const call = { do: 'call', tool: 'pure', name: 'shared', key: 'k1', ms: 400, wait: true } as const;
  await first.ask({ ...call, wait: false });
  await until(() => effects().length === 1);
  expect(await second.ask(call)).toMatchObject({ text: `shared by ${first.node}` });
  expect(effects()).toEqual(['shared']);

  await first.ask({ ...call, key: 'k2', wait: false });
  await until(() => effects().length === 2);
  const answer = second.ask({ ...call, key: 'k2' });
  await delay(50);
  await first.kill();
  const third = await peer();
  await third.ask({ do: 'recover' });
  expect(await answer).toMatchObject({ text: `shared by ${second.node}` });
  expect(effects()).toEqual(['shared', 'shared', 'shared']);
});

interface Peer {
  node: string;
  heard: { type: string; afterMs: number }[];
  ask(command: Command): Promise<Extract<Report, { said: 'done' }>>;
  leave(): Promise<void>;
  kill(): Promise<void>;
}

async function peer(databaseUrl?: string): Promise<Peer> {
  const child = fork(program, databaseUrl === undefined ? [folder] : [folder, databaseUrl]);
  const answers: ((report: Extract<Report, { said: 'done' }>) => void)[] = [];
  const heard: Peer['heard'] = [];
  const node = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
    child.on('message', (report: Report) => {
      if (report.said === 'ready') resolve(report.node);
      else if (report.said === 'heard') heard.push(report);
      else answers.shift()?.(report);
    });
  });
  const made: Peer = {
    node,
    heard,
    ask(command) {
      return new Promise((resolve) => {
        answers.push(resolve);
        child.send(command);
      });
    },
    leave() {
      child.send({ do: 'close' } satisfies Command);
      return ended(child);
    },
    kill() {
      child.kill('SIGKILL');
      return ended(child);
    },
  };
  peers.push(made);
  return made;
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

function effects(): string[] {
  try {
    return readFileSync(join(folder, 'effects.log'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}

async function until(reached: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !reached(); tries++) await delay(10);
}
