import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../../scripts/build.mjs';

const root = join(import.meta.dirname, '../..');

/** The built command, as a process of its own. */
export function toolwright(args: readonly string[], home: string): ChildProcess {
  build();
  return launch(process.execPath, [join(root, 'dist/cli.js'), ...args], home);
}

function launch(program: string, args: readonly string[], home: string): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

export interface ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON of an answer. */
  get(path: string): Promise<ReturnType<typeof JSON.parse>>;
  post(path: string, body?: unknown): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>;
  /** As a power cut would: nothing is told. */
  kill(): Promise<void>;
  /** As a service manager would: what runs may end. */
  stop(): Promise<void>;
}

export function startProcess(workspace: string, home: string): Promise<ServerProcess> {
  return serverOf(toolwright(startIn(workspace), home));
}

/** Needs no rights outside its own namespace. The workspace may be on the disk. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size=12m,mode=700 tmpfs "$1" && mkdir -p "$2" && shift 2 && exec "$@"';

export interface SmallDisk {
  /** The folder on which it is mounted, for this server alone. */
  readonly disk: string;
  readonly workspace: string;
}

/** Starts a server that has a small disk; `disk` is its folder as others see it. */
export async function startOnSmallDisk(
  { disk, workspace }: SmallDisk,
  home: string,
): Promise<ServerProcess & { disk: string }> {
  build();
  const command = [process.execPath, join(root, 'dist/cli.js'), ...startIn(workspace)];
  const namespace = ['--user', '--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, 'sh', disk, workspace];
  const server = await serverOf(launch('unshare', [...namespace, ...command], home));
  return { ...server, disk: `/proc/${server.child.pid}/root${disk}` };
}

/** Writes until nothing more fits. Removing the file makes space again. */
export function fillDisk(file: string): void {
  for (const size of [1_000_000, 10_000, 1000]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // Full for this size: try a smaller one.
    }
  }
}

function startIn(workspace: string): string[] {
  return ['start', '--json', '--port', '0', '--workspace', workspace];
}

async function serverOf(child: ChildProcess): Promise<ServerProcess> {
  const line = await firstLine(child);
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } });
  return {
    url,
    token,
    child,
    fetch: ask,
    get: async (path) => (await ask(path)).json(),
    async post(path, body = {}) {
      const headers = { 'Content-Type': 'application/json' };
      const response = await ask(path, { method: 'POST', body: JSON.stringify(body), headers });
      return { status: response.status, body: await response.json() };
    },
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await gone;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [out, problems] = ['', ''];
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      problems += text;
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const end = out.indexOf('\n');
      if (end !== -1) resolve(out.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${problems}`)));
  });
}
