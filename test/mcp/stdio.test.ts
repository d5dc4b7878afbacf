import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openHost } from '../../src/app/open-host.ts';
import { INITIALIZE } from './open-door.ts';

vi.setConfig({ testTimeout: 120_000 });

const root = new URL('../../', import.meta.url).pathname;
const program = [join(root, 'node_modules/tsx/dist/cli.mjs'), join(root, 'src/cli/main.ts'), 'mcp'];

let folder: string;
let workspace: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-stdio-')));
  workspace = join(folder, 'ws');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  writeFileSync(join(workspace, 'src/a b.ts'), 'export const a = 1;\n');
  writeFileSync(join(workspace, '.env'), 'SECRET=1\n');
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state'), TMPDIR: tmpdir() };
}

async function connect(mode: 'legacy' | 'auto', settings: string[] = []): Promise<Client> {
  const client = new Client(
    { name: 'tester', version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...program, '-w', workspace, ...settings],
      env: environment(),
    }),
  );
  closing.push(() => client.close());
  return client;
}

function start(): { child: ChildProcessWithoutNullStreams; next(): Promise<Record<string, unknown>> } {
  const child = spawn(process.execPath, [...program, '-w', workspace], { env: environment() });
  closing.push(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { child, next: async () => JSON.parse((await lines.next()).value as string) };
}

describe.each(['legacy', 'auto'] as const)('a client over pipes, %s', (mode) => {
  test('[E20] works in the workspace: reads, is refused with codes, asks, writes, and finds resources', async () => {
    const client = await connect(mode);
    expect(client.getServerVersion()?.name).toBe('toolwright');
    const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    const codeOf = async (name: string, args: Record<string, unknown>) =>
      ((await call(name, args))._meta?.['toolwright/error'] as { code: string } | undefined)?.code;

    const read = await call('read_file', { path: 'src/a b.ts' });
    expect(read.content).toEqual([{ type: 'text', text: 'export const a = 1;\n' }]);
    expect(read.structuredContent).toMatchObject({ path: 'src/a b.ts', totalLines: 1 });
    expect(await codeOf('read_file', { path: 'nowhere' })).toBe('FILE_NOT_FOUND');
    expect(await codeOf('read_file', { path: '../outside' })).toBe('INVALID_PATH');
    expect(await codeOf('read_file', { path: '.env' })).toBe('PERMISSION_DENIED');

    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'allow' } }));
    const written = await call('write_file', { path: 'src/a b.ts', content: 'changed\n' });
    expect(written.content[1]).toMatchObject({ type: 'resource_link', uri: 'workspace:///src/a%20b.ts' });
    expect(readFileSync(join(workspace, 'src/a b.ts'), 'utf8')).toBe('changed\n');
    expect(await codeOf('bash', { command: 'sleep 60', timeout: 1 })).toBe('TIMEOUT');
    expect(await codeOf('bash', { command: 'yes' })).toBe('EXECUTION_ERROR');

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('workspace:///src/a%20b.ts');
    const resource = await client.readResource({ uri: 'workspace:///src/a%20b.ts' });
    expect(resource.contents).toMatchObject([{ text: 'changed\n' }]);
    await expect(client.readResource({ uri: 'workspace:///.env' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'workspace:///%2e%2e/x' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32602 });
  });
});

test('output and changed files of a command are linked, and can be read', async () => {
  const client = await connect('legacy');
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'keep' } }));
  const linksOf = async (command: string, timeout = 30) => {
    const { content } = await client.callTool({ name: 'bash', arguments: { command, timeout } });
    return content.flatMap((block) => (block.type === 'resource_link' ? [block.uri] : []));
  };
  const links = await linksOf('mkdir -p made/deep; echo new > made/deep/file; echo more >> "src/a b.ts"; seq 1 200000');
  expect(links.slice(0, 2)).toEqual(['workspace:///made/deep/file', 'workspace:///src/a%20b.ts']);
  expect(links).toHaveLength(3);
  const { contents } = await client.readResource({ uri: links[2] ?? '' });
  expect(contents).toMatchObject([
    { uri: expect.stringMatching(/^output:/), text: expect.stringMatching(/\n200000\n$/) },
  ]);
  expect(await linksOf('seq 1 200000; sleep 60', 2)).toEqual([expect.stringMatching(/^output:/)]);
});

test('servers that the workspace proposes are not started', async () => {
  mkdirSync(join(workspace, '.toolwright'));
  const mcpServers = { theirs: { command: '/bin/sh', args: ['-c', `touch ${join(folder, 'STARTED')}`] } };
  writeFileSync(join(workspace, '.toolwright/config.json'), JSON.stringify({ mcpServers }));
  const client = await connect('legacy');
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('read_file');
  expect(existsSync(join(folder, 'STARTED'))).toBe(false);
});

test('lines that are no messages are answered and end nothing; one too long takes no memory', async () => {
  const { child, next } = start();
  for (const line of ['{"jsonrpc":"2.0","id":1', 'null', '[]', '{"jsonrpc":"1.0"}']) child.stdin.write(`${line}\n`);
  const codes = [];
  for (let count = 0; count < 4; count++) codes.push(((await next())['error'] as { code: number }).code);
  expect(codes).toEqual([-32700, -32600, -32600, -32600]);
  const before = residentMegabytes(child.pid ?? 0);
  const part = Buffer.alloc(1024 * 1024, 'a');
  for (let count = 0; count < 64; count++) {
    if (!child.stdin.write(part)) await new Promise((resolve) => child.stdin.once('drain', resolve));
  }
  child.stdin.write(`\n${JSON.stringify(INITIALIZE)}\n`);
  expect(await next()).toMatchObject({ id: null, error: { code: -32600 } });
  expect(await next()).toMatchObject({ id: 'init', result: { serverInfo: { name: 'toolwright' } } });
  expect(residentMegabytes(child.pid ?? 0) - before).toBeLessThan(128);
});

test.each([
  [{ TOOLWRIGHT_LOG_LEVEL: '' }, 0, ''],
  [{ TOOLWRIGHT_MODE: 'wild' }, 4, 'mode cannot be "wild"'],
])('with %j it ends with %i', async (more, code, said) => {
  const child = spawn(process.execPath, [...program, '-w', workspace], { env: { ...environment(), ...more } });
  closing.push(() => child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', (chunk) => (err += chunk));
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end();
  expect([await ended, err]).toEqual([code, expect.stringContaining(said)]);
});

test("the log goes to the error stream, as the user's file says", async () => {
  mkdirSync(join(folder, '.config/toolwright'), { recursive: true });
  writeFileSync(join(folder, '.config/toolwright/config.json'), '{ "logLevel": "info" }');
  const { child, next } = start();
  let err = '';
  child.stderr.on('data', (chunk) => (err += chunk));
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await next();
  const call = { name: 'read_file', arguments: { path: 'src/a b.ts' } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })}\n`);
  expect(await next()).toMatchObject({ id: 2 });
  await vi.waitUntil(() => err.includes('Tool read_file succeeded'), 60_000);
});

test('ends when its client goes', async () => {
  const { child, next } = start();
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  await next();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  expect(await ended).toBe(0);
});

test.each([
  ['SIGTERM', ['bash', 'read_file']],
  ['SIGINT', ['read_file']],
  ['the end of its input', ['read_file']],
] as const)('leaves no call open after %s: %j', async (how, tools) => {
  writeFileSync(join(workspace, 'asked.txt'), 'before\n');
  const settings = ['--set', 'allow=["bash"]', '--set', 'ask=["read_file(asked.txt)"]'];
  const args = ['--import', 'tsx', join(root, 'src/cli/main.ts'), 'mcp', '-w', workspace, ...settings];
  const child = spawn(process.execPath, args, { env: environment(), cwd: root });
  closing.push(() => child.kill('SIGKILL'));
  const messages: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', (line) => messages.push(JSON.parse(line)));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const call = (id: string, name: string, args: object) =>
    send({ id, method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: id } } });
  send(INITIALIZE);
  await vi.waitUntil(() => messages.length === 1, 60_000);
  send({ method: 'notifications/initialized' });
  const calls = {
    bash: { args: { command: 'echo started; sleep 60' }, end: 'interrupted' },
    read_file: { args: { path: 'asked.txt' }, end: 'cancelled' },
  };
  for (const tool of tools) call(tool, tool, calls[tool].args);
  const told = () => new Set(messages.map(({ params }) => (params as { progressToken?: string })?.progressToken));
  await vi.waitUntil(() => tools.every((tool) => told().has(tool)), 60_000);

  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (how === 'the end of its input') child.stdin.end();
  else child.kill(how);
  expect(await ended).toBe(0);
  const host = await openHost({ workspaces: [workspace], env: environment(), home: folder, takeOver: false });
  if (!host.ok) throw new Error(host.error.message);
  closing.push(() => host.value.close());
  const { items } = await host.value.ledger.history({});
  const states = Object.fromEntries(items.map(({ tool, state }) => [tool, state]));
  expect(states).toEqual(Object.fromEntries(tools.map((tool) => [tool, calls[tool].end])));
  expect(await host.value.ledger.approvals({ state: 'pending' })).toEqual([]);
});

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
