import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from '../../scripts/build.mjs';

const root = join(import.meta.dirname, '../..');

/** The built command, as a process of its own. */
export function toolwright(args: readonly string[], home: string): ChildProcess {
  build();
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  return spawn(process.execPath, [join(root, 'dist/cli.js'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

export interface ServerProcess {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcess;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body?: unknown): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>;
  /** As a power cut would: nothing is told. */
  kill(): Promise<void>;
}

export async function startProcess(workspace: string, home: string): Promise<ServerProcess> {
  const child = toolwright(['start', '--json', '--port', '0', '--workspace', workspace], home);
  const line = await firstLine(child);
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } });
  return {
    url,
    token,
    child,
    fetch: ask,
    async post(path, body = {}) {
      const headers = { 'Content-Type': 'application/json' };
      const response = await ask(path, { method: 'POST', body: JSON.stringify(body), headers });
      return { status: response.status, body: await response.json() };
    },
    async kill() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await gone;
    },
  };
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
