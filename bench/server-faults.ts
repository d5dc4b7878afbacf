import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killRounds } from '../test/faults/server-kill.ts';
import { atMost, type Benchmark, type Measurement, reported } from './benchmark.ts';
import { rssOf, type Server, start } from './http.ts';

const KILLS = 200;
const STALLED = 1000;
const EVENTS = 300;
const EVENT_BYTES = 20_000;
const FOLDERS = 2000;
const FILES = 100_000;

export const benchmark: Benchmark = {
  about: 'The server under faults: killed again and again, a thousand readers that do not read, a large tree to watch.',
  async run() {
    return [...(await killed()), ...(await stalled()), ...(await watched())];
  },
};

async function killed(): Promise<Measurement[]> {
  return inFolder(async (folder) => {
    const report = await killRounds(folder, KILLS);
    const { acknowledged, lost, ranUnasked, problems } = report;
    return [
      reported(`events and calls acknowledged in ${KILLS} rounds, each ended by SIGKILL`, acknowledged, ''),
      atMost('of them lost', lost.length, '', 0),
      atMost('questions that ran without an answer', ranUnasked.length, '', 0),
      atMost('problems in the log afterwards', problems.length, '', 0),
    ];
  });
}

async function stalled(): Promise<Measurement[]> {
  return inFolder(async (folder) => {
    const server = await startIn(folder);
    try {
      const before = await rssOf(server);
      const idle = await Promise.all(Array.from({ length: STALLED }, () => listen(server, { reads: false })));
      const readers = await Promise.all(Array.from({ length: 10 }, () => listen(server, { reads: true })));
      await server.ask({ do: 'emit', session: 'many', count: EVENTS, perSecond: 50, bytes: EVENT_BYTES });
      for (let waited = 0; waited < 30_000 && readers.some((each) => each.count() < EVENTS); waited += 50)
        await delay(50);
      const grown = (await rssOf(server)) - before;
      const complete = readers.filter((each) => each.count() === EVENTS).length;
      for (const { socket } of [...idle, ...readers]) socket.destroy();
      const megabytes = (EVENTS * EVENT_BYTES) / 1024 / 1024;
      const what = `memory the server grew by, with ${STALLED} readers that leave ${megabytes.toFixed(0)} MB each unread`;
      return [
        atMost(what, grown / 1024 / 1024, 'MB', 200),
        atMost('of ten other readers, those who missed events', 10 - complete, '', 0),
      ];
    } finally {
      server.child.kill();
    }
  });
}

async function watched(): Promise<Measurement[]> {
  return inFolder(async (folder) => {
    const empty = await startIn(folder);
    await delay(1000);
    const small = await rssOf(empty);
    empty.child.kill();
    const project = join(folder, 'project');
    for (let index = 0; index < FOLDERS; index++)
      mkdirSync(join(project, `d${index % 40}/e${index}`), { recursive: true });
    for (let index = 0; index < FILES; index++) {
      const at = index % FOLDERS;
      writeFileSync(join(project, `d${at % 40}/e${at}/f${index}.txt`), '');
    }
    const server = await startIn(folder);
    try {
      const reader = await listen(server, { reads: true, path: '/v1/events' });
      // A change made before its folder is watched is not reported, so this file is changed again and again.
      const first = await untilTold(reader, () =>
        writeFileSync(join(project, 'd39/e1999/first.txt'), `${Math.random()}`),
      );
      const times: number[] = [];
      for (let round = 0; round < 10; round++) {
        const name = `d39/e1999/again-${round}.txt`;
        const sentAt = performance.now();
        await untilTold(reader, () => writeFileSync(join(project, name), 'x'), { once: true, name });
        times.push(performance.now() - sentAt);
      }
      const grown = ((await rssOf(server)) - small) / 1024 / 1024;
      reader.socket.destroy();
      return [
        reported(`from the start until changes in a tree of ${FILES} files are told`, first, 'ms'),
        atMost('from a change to its event, the slowest of ten', Math.max(...times), 'ms', 1000),
        atMost('memory more than over an empty folder', grown, 'MB', 100),
      ];
    } finally {
      server.child.kill();
    }
  });
}

interface Reader {
  readonly socket: Socket;
  count(): number;
  text(): string;
}

async function untilTold(
  reader: Reader,
  change: () => void,
  { once = false, name = 'first.txt' } = {},
): Promise<number> {
  const startedAt = performance.now();
  change();
  for (let waited = 0; waited < 120_000 && !reader.text().includes(name); waited += 10) {
    await delay(10);
    if (!once && waited % 200 === 0) change();
  }
  return performance.now() - startedAt;
}

async function listen(
  { url, token }: Server,
  { reads, path = '/v1/events?session=many&after=0' }: { reads: boolean; path?: string },
): Promise<Reader> {
  const socket = connect(Number(url.port), url.hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.on('error', () => socket.destroy());
  let [count, text] = [0, ''];
  if (reads) {
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      count += chunk.match(/^id: /gm)?.length ?? 0;
      text = (text + chunk).slice(-5000);
    });
  } else socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return { socket, count: () => count, text: () => text };
}

function startIn(folder: string): Promise<Server> {
  for (const name of ['home', 'project']) mkdirSync(join(folder, name), { recursive: true });
  return start('ours', join(folder, 'home'), join(folder, 'project'));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-server-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
