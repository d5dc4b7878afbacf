import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';
import type { Order, Said } from './programs/http.server.ts';

const CONNECTIONS = 32;
const REQUESTS = 2000;
const ROUNDS = 5;
const READERS = 1000;
const EVENTS = 500;
const PER_SECOND = 100;

export const benchmark: Benchmark = {
  about: 'The server: calls over HTTP with recording, against a bare route that inserts one row; a thousand readers.',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-http-'));
    mkdirSync(join(folder, 'project'));
    mkdirSync(join(folder, 'home'));
    mkdirSync(join(folder, 'bare'));
    const ours = await start('ours', join(folder, 'home'), join(folder, 'project'));
    const bare = await start('bare', join(folder, 'bare'), '');
    try {
      return [...(await calls(ours, bare)), ...(await readers(ours))];
    } finally {
      ours.child.kill();
      bare.child.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export interface Server {
  readonly child: ChildProcess;
  readonly url: URL;
  readonly token: string;
  ask(order: Order): Promise<Said>;
}

export async function start(kind: string, folder: string, workspace: string): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'programs/http.server.ts'), [kind, folder, workspace], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  const heard = () => new Promise<Said>((resolve) => child.once('message', (said) => resolve(said as Said)));
  const first = await heard();
  if (!('url' in first)) throw new Error('the server did not start');
  const ask = (order: Order) => {
    const answer = heard();
    child.send(order);
    return answer;
  };
  return { child, url: new URL(first.url), token: first.token, ask };
}

/** By turns, so that load hits both. */
async function calls(ours: Server, bare: Server): Promise<Measurement[]> {
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  const times: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const one = await load(ours);
    const other = await load(bare);
    if (round < 0) continue;
    rates.ours.push(one.perSecond);
    rates.bare.push(other.perSecond);
    times.push(...one.times);
  }
  const [rate, limit] = [median(rates.ours), median(rates.bare)];
  times.sort((a, b) => a - b);
  const ratio = rate / limit;
  const what = 'no-op calls over HTTP with recording, 32 connections, against a bare route with one row';
  return [
    {
      what,
      ours: rate,
      peer: limit,
      unit: 'a second',
      ratio,
      goal: 'at least 0.5 × the bare route',
      met: ratio >= 0.5,
    },
    reported('one of these calls, the median', times[times.length >> 1] ?? 0, 'ms'),
    reported('one of these calls, the 99th percentile', times[Math.floor(times.length * 0.99)] ?? 0, 'ms'),
  ];
}

async function load({ url, token }: Server): Promise<{ perSecond: number; times: number[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const body = JSON.stringify({ tool: 'noop', args: { n: 1 } });
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${token}`,
    'Content-Length': body.length,
  };
  const times: number[] = [];
  let left = REQUESTS;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) {
        const sentAt = performance.now();
        await post();
        times.push(performance.now() - sentAt);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return { perSecond: REQUESTS / seconds, times };

  function post(): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { host: url.hostname, port: url.port, path: '/v1/calls', method: 'POST', headers, agent };
      const asked = request(options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.resume().on('end', resolve);
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}

async function readers(server: Server): Promise<Measurement[]> {
  const before = await rssOf(server);
  const all = await Promise.all(Array.from({ length: READERS }, () => reader(server)));
  await server.ask({ do: 'emit', session: 'many', count: EVENTS, perSecond: PER_SECOND });
  for (let waited = 0; waited < 30_000 && all.some((each) => each.count() < EVENTS); waited += 50) await delay(50);
  const after = await rssOf(server);
  const complete = all.filter((each) => each.count() === EVENTS && each.inOrder()).length;
  for (const each of all) each.close();
  const what = `readers of one session that got all ${EVENTS} events in order, ${PER_SECOND} a second`;
  const goal = `all ${READERS}`;
  return [
    {
      what,
      ours: complete,
      peer: READERS,
      unit: 'readers',
      ratio: complete / READERS,
      goal,
      met: complete === READERS,
    },
    atMost('memory the server grew by', (after - before) / (1024 * 1024), 'MB', 200),
  ];
}

export async function rssOf(server: Server): Promise<number> {
  const said = await server.ask({ do: 'rss' });
  return 'rss' in said ? said.rss : 0;
}

/** Counts ids as they come; a page would do more, but not on the server's account. */
async function reader({ url, token }: Server) {
  const socket = connect(Number(url.port), url.hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  let [count, ordered, rest] = [0, true, ''];
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk;
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    for (const [, id] of text.slice(0, end).matchAll(/^id: (\d+)$/gm)) {
      count++;
      if (Number(id) !== count) ordered = false;
    }
  });
  const answered = new Promise((resolve) => socket.once('data', resolve));
  const host = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(`GET /v1/events?session=many&after=0 HTTP/1.1\r\n${host}`);
  await answered;
  return { count: () => count, inOrder: () => ordered, close: () => socket.destroy() };
}
