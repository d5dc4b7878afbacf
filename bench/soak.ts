import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, type Benchmark, reported } from './benchmark.ts';

const CALLS = 10_000;
const WARM_UP = 1_000;
const AT_ONCE = 8;
const FILES = 200;
const SESSIONS = 20;
const LOOKS = 10;

export const benchmark: Benchmark = {
  about: 'A long day: mixed calls over HTTP to the built server, and what it holds on to afterwards.',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-soak-'));
    const server = await started(folder);
    try {
      await load(server, WARM_UP, 0);
      const before = await settled(server);
      const start = performance.now();
      const failed = await load(server, CALLS, WARM_UP);
      const seconds = (performance.now() - start) / 1000;
      const after = await settled(server);
      return [
        reported('mixed calls a second, 8 at a time', CALLS / seconds, 'a second'),
        atMost('calls that ended otherwise than they should', failed, '', 0),
        atMost('memory the server grew by over 10,000 calls', (after.rss - before.rss) / 1024 / 1024, 'MB', 50),
        atMost('descriptors more than before', after.descriptors - before.descriptors, '', 0),
        atMost('processes more than before', after.children - before.children, '', 0),
      ];
    } finally {
      server.child.kill('SIGTERM');
      await new Promise((done) => server.child.once('exit', done));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Soaked {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
}

async function started(folder: string): Promise<Soaked> {
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')];
  for (const each of [home, workspace]) mkdirSync(each);
  for (let at = 0; at < FILES; at++) writeFileSync(join(workspace, `f${at}.txt`), `line one of ${at}\nline two\n`);
  const cli = join(import.meta.dirname, '..', 'dist', 'cli.js');
  const argv = [cli, 'start', '--json', '--workspace', workspace, '--set', 'port=0', '--set', 'mode=auto'];
  const child = spawn(process.execPath, argv, {
    env: { PATH: process.env.PATH, HOME: home },
    // Its log tells of every mistake in the mix.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const line = await new Promise<string>((done) => child.stdout.setEncoding('utf8').once('data', done));
  return { child, ...(JSON.parse(line) as { url: string; token: string }) };
}

/** A day of an agent: mostly reads and searches, some edits, a command now and then, and mistakes. */
const MIX: readonly ((at: number) => readonly [tool: string, args: object, ok: boolean])[] = [
  (at) => ['read_file', { path: `f${at % FILES}.txt` }, true],
  (at) => ['read_file', { path: `f${(at * 7) % FILES}.txt`, offset: 2 }, true],
  () => ['list_directory', { path: '.' }, true],
  (at) => ['write_file', { path: `new${at % 50}.txt`, content: `made by ${at}\n` }, true],
  (at) => ['edit_file', { path: `f${at % FILES}.txt`, edits: [{ old: 'line two', new: 'line two' }] }, false],
  () => ['read_file', { path: 'missing.txt' }, false],
  () => ['read_file', { path: '../outside.txt' }, false],
  () => ['no_such_tool', {}, false],
  (at) => ['grep', { pattern: `line one of ${at % FILES}$` }, true],
  () => ['bash', { command: 'wc -l f1.txt' }, true],
];

/** The heavier ones come less often, in turns that do not depend on chance. */
function callNumber(at: number) {
  const heavy = at % 40 === 0 ? 9 : at % 20 === 0 ? 8 : at % 8;
  return (MIX[heavy] as (typeof MIX)[number])(at);
}

async function load({ url, token }: Soaked, count: number, from: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object) =>
    (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<{
      id?: string;
      state?: string;
    }>;
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => post('/v1/sessions', {})));
  let next = 0;
  let failed = 0;
  const work = async () => {
    for (let at = next++; at < count; at = next++) {
      const [tool, args, ok] = callNumber(from + at);
      const session = sessions[at % SESSIONS]?.id;
      const { state } = await post('/v1/calls', { tool, args, session, wait: true });
      if (state !== (ok ? 'succeeded' : 'failed')) failed++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

/**
 * The resources it holds, as the system counts them. Between two garbage collections the memory goes up and down by some
 * 80 MB, so it is the lowest of many looks while it works: what is never given back is in that too.
 */
async function settled(server: Soaked) {
  const looks = [];
  for (let look = 0; look < LOOKS; look++) {
    await load(server, 400, 0);
    await new Promise((done) => setTimeout(done, 500));
    looks.push(held(server));
  }
  const { descriptors, children } = looks.at(-1) ?? held(server);
  return { rss: Math.min(...looks.map(({ rss }) => rss)), descriptors, children };
}

function held({ child }: Soaked) {
  const proc = `/proc/${child.pid}`;
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`${proc}/status`, 'utf8')) ?? [];
  const children = readFileSync(`${proc}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean);
  return { rss: Number(kilobytes) * 1024, descriptors: readdirSync(`${proc}/fd`).length, children: children.length };
}
