import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Benchmark, Measurement } from './benchmark.ts';
import { median } from './benchmark.ts';

const IN_FLIGHT = 16;
const SAMPLES = 3;

export const benchmark: Benchmark = {
  about:
    'Calls over MCP stdio, with every call recorded on disk, against @modelcontextprotocol/server-filesystem doing the ' +
    'same work in the same run; a plain client that counts answers.',
  async run() {
    const top = realpathSync(mkdtempSync(join(tmpdir(), 'bench-mcp-')));
    const workspace = makeWorkspace(top);
    const [ours, peer, bare] = [startOurs(top, workspace), startPeer(workspace), startBare(top, workspace)];
    try {
      await Promise.all([ours.open(), peer.open(), bare.open()]);
      const results: Measurement[] = [];
      for (const { what, rounds, our, their } of works(workspace)) {
        results.push(await compare(what, { rounds, inFlight: IN_FLIGHT, goal: true }, [ours, our], [peer, their]));
        results.push(await compare(what, { rounds, inFlight: 1, goal: false }, [ours, our], [peer, their]));
      }
      const [read] = works(workspace);
      if (read === undefined) return results;
      const { rounds, our, their } = read;
      const asked = { rounds, inFlight: IN_FLIGHT, goal: false };
      const [limit, mine] = [
        `${read.what}, the least that records against the peer`,
        `${read.what}, ours against the least`,
      ];
      results.push(await compare(limit, asked, [bare, our], [peer, their]));
      results.push(await compare(mine, asked, [ours, our], [bare, our]));
      return results;
    } finally {
      ours.close();
      peer.close();
      bare.close();
      rmSync(top, { recursive: true, force: true });
    }
  },
};

type Call = readonly [tool: string, args: Record<string, unknown>];

/** The same work for both: the peer takes absolute paths, and searches by name where we search by content. */
function works(root: string): { what: string; rounds: number; our: Call; their: Call }[] {
  return [
    {
      what: 'read a file of 4 KB',
      rounds: 320,
      our: ['read_file', { path: 'src/f7/file3.ts' }],
      their: ['read_text_file', { path: join(root, 'src/f7/file3.ts') }],
    },
    {
      what: 'list a folder of 100 entries with their sizes',
      rounds: 320,
      our: ['list_directory', { path: 'src' }],
      their: ['list_directory_with_sizes', { path: join(root, 'src') }],
    },
    {
      what: 'search 2,000 files (grep against search_files)',
      rounds: 16,
      our: ['grep', { pattern: 'needle' }],
      their: ['search_files', { path: root, pattern: '**/needle*' }],
    },
  ];
}

function makeWorkspace(top: string): string {
  const root = join(top, 'ws');
  const text = 'export const value = 12345; // a line of an ordinary file\n'.repeat(71);
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(join(root, 'src', `f${folder}`), { recursive: true });
    for (let file = 0; file < 20; file++) writeFileSync(join(root, 'src', `f${folder}`, `file${file}.ts`), text);
  }
  writeFileSync(join(root, 'src/f50/needle.ts'), 'needle\n');
  return root;
}

/** One sample of each in turn, so that a busy moment of the machine hits both. */
async function compare(
  what: string,
  { rounds, inFlight, goal }: { rounds: number; inFlight: number; goal: boolean },
  [ours, our]: [LineClient, Call],
  [peer, their]: [LineClient, Call],
): Promise<Measurement> {
  const [mine, others]: [number[], number[]] = [[], []];
  const count = inFlight === 1 ? Math.ceil(rounds / 4) : rounds;
  for (let sample = -1; sample < SAMPLES; sample++) {
    const [a, b] = [await perSecond(ours, our, count, inFlight), await perSecond(peer, their, count, inFlight)];
    if (sample < 0) continue;
    mine.push(a);
    others.push(b);
  }
  const [a, b] = [median(mine), median(others)];
  const at = inFlight === 1 ? 'one after another' : `${inFlight} in flight`;
  return {
    what: `${what}, ${at}`,
    ours: a,
    peer: b,
    unit: 'calls/s',
    ratio: a / b,
    goal: goal ? 'at least as many as the peer' : '',
    met: !goal || a >= b,
  };
}

async function perSecond(client: LineClient, [name, args]: Call, count: number, inFlight: number): Promise<number> {
  const start = performance.now();
  let sent = 0;
  const work = async () => {
    while (sent++ < count) await client.request('tools/call', { name, arguments: args });
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return (1000 * count) / (performance.now() - start);
}

function startOurs(top: string, workspace: string): LineClient {
  const program = join(import.meta.dirname, '../dist/cli.js');
  const settings = ['--set', `stateDir=${join(top, 'state')}`, '--set', 'logLevel=silent'];
  const args = [program, 'mcp', '-w', workspace, ...settings];
  return new LineClient(spawn(process.execPath, args));
}

function startPeer(workspace: string): LineClient {
  const found = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  return new LineClient(spawn(process.execPath, [join(dirname(found), 'dist/index.js'), workspace]));
}

/** The least cost of one durable row per call on the SDK that we use. */
function startBare(top: string, workspace: string): LineClient {
  const program = join(import.meta.dirname, 'programs/mcp.baseline.ts');
  return new LineClient(spawn(process.execPath, ['--import', 'tsx', program, workspace, join(top, 'bare.db')]));
}

/** As little as a client can do, so that what is measured is the server. */
class LineClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  #next = 0;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stderr.resume();
    createInterface(child.stdout).on('line', (line) => this.#read(line));
  }

  async open(): Promise<void> {
    await this.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  request(method: string, params: object): Promise<void> {
    const id = ++this.#next;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  close(): void {
    this.#child.stdin.end();
    this.#child.kill();
  }

  #read(line: string): void {
    const { id, error, result } = JSON.parse(line);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error !== undefined || result?.isError) waiting?.reject(new Error(line.slice(0, 300)));
    else waiting?.resolve();
  }
}
