import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 120_000 });

const root = new URL('../../', import.meta.url).pathname;
const loader = join(root, 'node_modules/tsx/dist/loader.mjs');

let folder: string;
const children: ChildProcessWithoutNullStreams[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-deaf-')));
  mkdirSync(join(folder, 'ws'));
  writeFileSync(join(folder, 'ws/a.txt'), 'one line\n');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  if (existsSync(join(folder, 'pid')) && isAlive(deafPid())) process.kill(deafPid(), 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Our program with a server that neither answers nor minds that its input ended. */
function toolwright(...words: string[]): ChildProcessWithoutNullStreams {
  const deaf = { command: '/bin/sh', args: ['-c', `echo $$ > ${join(folder, 'pid')}; exec sleep 600`] };
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    TMPDIR: tmpdir(),
    TOOLWRIGHT_MCP_SERVERS: JSON.stringify({ deaf }),
  };
  const program = ['--import', loader, join(root, 'src/cli/main.ts')];
  const child = spawn(process.execPath, [...program, ...words], { env, cwd: join(folder, 'ws') });
  children.push(child);
  return child;
}

const ended = (child: ChildProcessWithoutNullStreams) => new Promise((resolve) => child.once('exit', resolve));
const deafPid = () => Number(readFileSync(join(folder, 'pid'), 'utf8'));
const isStarted = () => existsSync(join(folder, 'pid')) && deafPid() > 0;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each(['SIGTERM', 'end of input'])('a server that is being started is ended on %s', async (how) => {
  const child = toolwright('mcp');
  await vi.waitUntil(isStarted, 60_000);
  const exit = ended(child);
  if (how === 'SIGTERM') child.kill('SIGTERM');
  else child.stdin.end();
  expect(await exit).toBe(0);
  expect(isAlive(deafPid())).toBe(false);
});

test('the door opens without a server that does not answer', async () => {
  const child = toolwright('mcp');
  await vi.waitUntil(isStarted, 60_000);
  const since = performance.now();
  const clientInfo = { name: 't', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const [answer] = await new Promise<Buffer[]>((resolve) => child.stdout.once('data', (...data) => resolve(data)));
  expect(JSON.parse(String(answer))).toMatchObject({ id: 1, result: { serverInfo: { name: 'toolwright' } } });
  expect(performance.now() - since).toBeLessThan(15_000);
  child.stdin.end();
  await ended(child);
});

test('a call of our own tool starts no server, and a list says which one is missing', async () => {
  const call = toolwright('call', 'read_file', '--path', 'a.txt');
  expect(await text(call.stdout)).toContain('one line');
  expect(isStarted()).toBe(false);
  const list = toolwright('tools');
  const [tools, notes] = await Promise.all([text(list.stdout), text(list.stderr)]);
  expect(tools).toContain('read_file');
  expect(notes).toContain('The MCP server deaf is down; its tools are not listed.');
});
