import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { serveMcp } from '../../src/app/mcp/serve-mcp.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { type CliFixture, createCliFixture } from '../../src/testing/cli-fixture.ts';
import { INITIALIZE } from '../mcp/open-door.ts';
import { TestServer } from './test-server.ts';

type Tried = (tool: string, args: Record<string, unknown>) => Promise<{ code: string | undefined; text: string }>;

interface OpenDoor {
  readonly workspace: string;
  readonly tried: Tried;
  close(): Promise<void>;
}

const FILES = {
  'package.json': '{"scripts":{"test":"echo as-before","each":"for f in tools/*.sh; do sh $f; done"}}',
  'a.txt': 'one\n',
};

async function overHttp(): Promise<OpenDoor> {
  const server = new TestServer();
  mkdirSync(join(server.home, '.config/toolwright'), { recursive: true });
  writeFileSync(join(server.home, '.config/toolwright/config.json'), '{"mode":"strict"}');
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(server.workspace, name), content);
  await server.start();
  const tried: Tried = async (tool, args) => {
    const { body } = await server.post('/v1/calls', { tool, args });
    const { error } = body.outcome;
    return { code: error?.code, text: JSON.stringify(body) };
  };
  return { workspace: server.workspace, tried, close: () => server[Symbol.asyncDispose]() };
}

/** A home in which the mode is set, and a workspace. */
function strictPlace(): CliFixture {
  const place = createCliFixture(process.env['PATH'], FILES);
  const folder = join(place.top, 'config/toolwright');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"mode":"strict"}');
  return place;
}

function streams() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said = { text: '' };
  for (const stream of [stdout, stderr]) stream.setEncoding('utf8').on('data', (text) => (said.text += text));
  return { stdin, stdout, stderr, said };
}

async function overCommandLine(): Promise<OpenDoor> {
  const place = strictPlace();
  const tried: Tried = async (tool, args) => {
    const { said, ...io } = streams();
    io.stdin.end();
    const about = { ...io, env: place.env, cwd: place.workspace, onInterrupt: () => () => {} };
    await runCli(['call', tool, '--input', JSON.stringify(args), '--json'], about, '1.2.3');
    return { code: /"code": ?"(\w+)"/.exec(said.text)?.[1], text: said.text };
  };
  return { workspace: place.workspace, tried, close: async () => place[Symbol.dispose]() };
}

async function overMcp(): Promise<OpenDoor> {
  const place = strictPlace();
  const { stdin, stdout: output, stderr: errors, said } = streams();
  const { workspace, env } = place;
  const { signal } = new AbortController();
  const ended = serveMcp({ workspace, env, flags: {}, headless: false, input: stdin, output, errors, signal });
  const send = (message: unknown) => stdin.write(`${JSON.stringify(message)}\n`);
  const answer = (id: unknown) =>
    vi.waitUntil(() => said.text.split('\n').find((line) => line.includes(`"id":${JSON.stringify(id)}`)), 30_000);
  send(INITIALIZE);
  await answer(INITIALIZE.id);
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let count = 0;
  const tried: Tried = async (name, args) => {
    const id = `call-${count++}`;
    send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
    const text = await answer(id);
    return { code: JSON.parse(text).result._meta?.['toolwright/error']?.code, text };
  };
  const close = async () => {
    stdin.end();
    await ended;
    place[Symbol.dispose]();
  };
  return { workspace, tried, close };
}

describe.each([
  ['HTTP', overHttp],
  ['the command line', overCommandLine],
  ['MCP', overMcp],
])('[D16] mode strict over %s', (_door, open) => {
  test('runs what is listed and was there, refuses the rest and what the agent wrote since, and says why', async () => {
    const { workspace, tried, close } = await open();
    try {
      const listed = await tried('bash', { command: 'npm test' });
      expect(listed.code, listed.text).toBeUndefined();
      expect(listed.text).toContain('as-before');
      const unlisted = await tried('bash', { command: 'sed -i 1s/^/changed/ a.txt' });
      expect(unlisted).toMatchObject({ code: 'PERMISSION_DENIED', text: expect.stringContaining('only listed calls') });
      const absolute = await tried('bash', { command: 'ls', cwd: workspace });
      expect(absolute.code, absolute.text).toBe('INVALID_PATH');
      const content = '{"scripts":{"test":"touch ../PWNED"}}';
      expect((await tried('write_file', { path: 'sub/package.json', content })).code).toBeUndefined();
      for (const args of [{ command: 'cd sub && npm test' }, { command: 'npm install', cwd: 'sub' }]) {
        const { code, text } = await tried('bash', args);
        expect(code, text).toBe('PERMISSION_DENIED');
        expect(text).toContain('sub/package.json');
        expect(text).toContain('nobody has agreed');
      }
      expect(existsSync(join(workspace, 'PWNED'))).toBe(false);
      expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
    } finally {
      await close();
    }
  });

  test('refuses variables that may decide what runs, folders above, and new programs that a loop of a script reaches', async () => {
    const { workspace, tried, close } = await open();
    try {
      for (const [name, value] of Object.entries({ MAKEFLAGS: '--eval=x', DEBUG: '$(shell touch PWNED)' })) {
        const { code, text } = await tried('bash', { command: 'npm test', env: { [name]: value } });
        expect([code, text]).toEqual(['PERMISSION_DENIED', expect.stringContaining(name)]);
      }
      const harmless = await tried('bash', { command: 'ls', env: { NODE_ENV: 'test', GIT_AUTHOR_NAME: 'Ana' } });
      expect(harmless.code, harmless.text).toBeUndefined();
      const above = await tried('bash', { command: `find ${dirname(workspace)} -name a.txt` });
      expect(above.code, above.text).toBe('INVALID_PATH');
      expect((await tried('write_file', { path: 'tools/x.sh', content: 'touch PWNED' })).code).toBeUndefined();
      const each = await tried('bash', { command: 'npm run each' });
      expect([each.code, each.text]).toEqual(['PERMISSION_DENIED', expect.stringContaining('tools/x.sh')]);
      expect(existsSync(join(workspace, 'PWNED'))).toBe(false);
    } finally {
      await close();
    }
  });
});
