import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addToken } from '../../src/app/admin/tokens.ts';
import { type StartedServer, startServer } from '../../src/app/start-server.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-http-mcp-')));
const workspace = join(folder, 'ws');
const second = join(folder, 'second');
const stateDir = join(folder, 'state');
let server: StartedServer;
let agentToken: string;
const closing: (() => unknown)[] = [];
/** Who wants to hear of switched tools: one for each client that stays. */
let listening = 0;

beforeAll(async () => {
  mkdirSync(workspace);
  mkdirSync(second);
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(workspace, 'a.txt'), 'first\n');
  const made = await addToken(stateDir, { name: 'robot', role: 'agent', sessions: null });
  if (!made.ok) throw new Error(made.error.message);
  agentToken = made.value;
  const started = await startServer({
    workspaces: [workspace, second],
    env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder },
    flags: { port: '0', stateDir },
    home: folder,
  });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  const [app] = server.host.apps.values();
  if (app === undefined) throw new Error('there is no workspace');
  const { registry } = app;
  const onChange = registry.onChange.bind(registry);
  registry.onChange = (listener) => {
    listening += 1;
    const stop = onChange(listener);
    return () => {
      listening -= 1;
      stop();
    };
  };
}, 60_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(era: 'auto' | 'legacy', token: string, path = '/mcp'): Promise<Client> {
  const client = new Client(
    { name: 'tester', version: '1' },
    { versionNegotiation: { mode: era }, capabilities: { elicitation: { form: {} } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, server.url), { requestInit }));
  closing.push(() => client.close());
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'allow' } }));
  return client;
}

const write = (content: string) => ({ name: 'write_file', arguments: { path: 'a.txt', content } });
const onDisk = () => readFileSync(join(workspace, 'a.txt'), 'utf8');

describe.each(['auto', 'legacy'] as const)('MCP on the server, %s', (era) => {
  test("the owner's form counts, and the call is in the server's record", async () => {
    const client = await connect(era, server.token);
    const answer = await client.callTool(write(`${era} owner\n`));
    expect(answer.isError, JSON.stringify(answer)).toBeUndefined();
    expect(onDisk()).toBe(`${era} owner\n`);
    const { items } = await server.host.ledger.history({ tool: 'write_file', newestFirst: true });
    expect(items[0]).toMatchObject({ agent: 'tester', state: 'succeeded' });
    const session = await server.host.ledger.session(items[0]?.session ?? '');
    expect(session).toMatchObject({ title: 'MCP: tester', agent: 'tester' });
  });

  test('a refusal because of a secret names where a person frees it, and no form of a client decides that', async () => {
    writeFileSync(join(workspace, '.env'), 'API_TOKEN=12345\n');
    const client = await connect(era, server.token);
    const answer = await client.callTool({ name: 'read_file', arguments: { path: '.env' } });
    const text = JSON.stringify(answer.content);
    expect(text).toContain('on the page or with toolwright paths no-secret .env');
    const details = { reason: 'secret', path: '.env' };
    expect(answer).toMatchObject({ isError: true, _meta: { 'toolwright/error': { details } } });
    expect(JSON.stringify(answer)).not.toContain('12345');
    expect(await server.host.settings.pathDecisions()).toEqual([]);
  });

  test('who may only run tools cannot approve their own call: our inbox is asked, and its edit runs', async () => {
    const client = await connect(era, agentToken);
    const told: string[] = [];
    const before = onDisk();
    const calling = client.callTool(write('of the robot\n'), {
      onprogress: ({ message }) => told.push(message ?? ''),
    });
    const question = await pending();
    expect(onDisk()).toBe(before);
    const modifiedArgs = { path: 'a.txt', content: `edited by a person, ${era}\n` };
    const { answers } = server.host;
    const review = await answers.review(question, modifiedArgs);
    if (review.kind !== 'reviewed') throw new Error(review.kind);
    const yes = { modifiedArgs, digest: review.edit.digest };
    expect(await answers.approve(question, 'web', yes)).toMatchObject({ kind: 'answered' });
    const answer = await calling;
    expect(JSON.stringify(answer.content)).toContain('changed content before it ran');
    expect(onDisk()).toBe(`edited by a person, ${era}\n`);
    expect(told.join()).toContain('Waiting for approval');
  });

  test('"always" in the form shows its rules and saves exactly these; edited arguments cannot have it', async () => {
    const client = await connect(era, server.token);
    const run = (name: string) =>
      client.callTool({ name: 'bash', arguments: { command: `touch ${name}`, background: true } });
    const rules = async () => (await server.host.ledger.rules()).map(({ rule, by }) => `${rule} ${by}`);
    const asked: string[] = [];
    let content: Record<string, string> = { decision: 'always', argument_command: `touch ${era}-other` };
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content };
    });
    expect(JSON.stringify((await run(`${era}-made`)).content)).toContain('not an edited one');
    expect(await rules()).not.toContain(`bash(touch ${era}-made) mcp:tester`);
    content = { decision: 'always' };
    expect((await run(`${era}-made`)).isError).toBeUndefined();
    expect(asked[1]).toContain(`"always" would save, for this workspace:\n  | bash(touch ${era}-made)`);
    expect(await rules()).toContain(`bash(touch ${era}-made) mcp:tester`);
    expect((await run(`${era}-made`)).isError).toBeUndefined();
    expect(asked).toHaveLength(2);
    // No rule is narrow enough here, so it is not offered, and not taken where it was not.
    const unsafe = { name: 'bash', arguments: { command: `eval "$(cat ${era}-made)"`, background: true } };
    expect((await client.callTool(unsafe)).isError).toBe(true);
    expect(asked[2]).not.toContain('"always"');
  });

  test('a client hears of a file that another one changed', async () => {
    const [client, other] = [await connect(era, server.token), await connect(era, server.token)];
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const path = `${era}.txt`;
    const uri = `workspace:///${path}`;
    if (era === 'legacy') await client.subscribeResource({ uri });
    else closing.push(await client.listen({ resourceSubscriptions: [uri] }).then((open) => () => open.close()));
    await other.callTool({ name: 'write_file', arguments: { path, content: `${era} changed\n` } });
    const end = performance.now() + 10_000;
    while (heard.length === 0 && performance.now() < end) await sleep(50);
    expect(new Set(heard)).toEqual(new Set([uri]));
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ text: `${era} changed\n` }]);
    heard.length = 0;
    writeFileSync(join(workspace, path), 'by an editor\n');
    while (heard.length === 0 && performance.now() < end) await sleep(50);
    expect(new Set(heard)).toEqual(new Set([uri]));
  });
});

test('each workspace has its own address, and calls there stay there', async () => {
  const [, id] = [...server.host.apps.keys()];
  const client = await connect('auto', server.token, `/mcp/${id}`);
  expect((await client.callTool(write('of the second\n'))).isError).toBeUndefined();
  expect(readFileSync(join(second, 'a.txt'), 'utf8')).toBe('of the second\n');
  expect(onDisk()).not.toBe('of the second\n');
  const { items } = await server.host.ledger.history({ tool: 'write_file', newestFirst: true });
  expect(await server.host.ledger.session(items[0]?.session ?? '')).toMatchObject({ workspace: id });
  const headers = { authorization: `Bearer ${server.token}` };
  const nowhere = await fetch(new URL('/mcp/elsewhere', server.url), { method: 'POST', headers });
  expect(nowhere.status).toBe(404);
});

test('a refused secret names how a person frees it, and no tool does', async () => {
  mkdirSync(join(workspace, 'src'), { recursive: true });
  writeFileSync(join(workspace, '.env'), 'A=made-up\n');
  writeFileSync(join(workspace, 'src/token.txt'), `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}\n`);
  const client = await connect('auto', server.token);
  for (const path of ['.env', 'src/token.txt']) {
    const refused = await client.callTool({ name: 'read_file', arguments: { path } });
    expect(refused.isError, path).toBe(true);
    expect(JSON.stringify(refused.content)).toContain(`on the page or with toolwright paths no-secret ${path}`);
  }
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).filter((name) => /path|secret|decide/.test(name))).toEqual([]);
});

test('without a token, with a wrong one, or for another host there is no MCP', async () => {
  const url = new URL('/mcp', server.url);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const send = (more: Record<string, string>) =>
    fetch(url, { method: 'POST', body, headers: { ...headers, ...more } }).then(({ status }) => status);
  expect(await send({})).toBe(401);
  expect(await send({ authorization: 'Bearer wrong' })).toBe(401);
  expect(await send({ authorization: `Bearer ${server.token}`, origin: 'http://evil.test' })).toBe(403);
  const before = listening;
  for (let count = 0; count < 20; count++) expect(await send({ authorization: `Bearer ${server.token}` })).toBe(400);
  expect(listening).toBe(before);
});

test('a session belongs to the token that opened it', async () => {
  const owner = await connect('legacy', server.token);
  const { sessionId } = owner.transport as StreamableHTTPClientTransport;
  expect(sessionId?.length).toBeGreaterThanOrEqual(43);
  const { status } = await fetch(new URL('/mcp', server.url), {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${agentToken}`,
      'mcp-session-id': sessionId ?? '',
    },
  });
  expect(status).toBe(404);
});

async function pending(): Promise<string> {
  const end = performance.now() + 10_000;
  while (performance.now() < end) {
    const [first] = await server.host.ledger.approvals({ state: 'pending' });
    if (first !== undefined) return first.id;
    await sleep(20);
  }
  throw new Error('nobody was asked');
}
