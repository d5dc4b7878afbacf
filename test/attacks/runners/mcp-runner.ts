import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../../../src/app/start-server.ts';
import type { Observation, OutcomeName } from '../attack.ts';
import { ASK_ABOUT_CHANGES } from '../case-settings.ts';
import { markedProcesses } from '../check-asserts.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
import { FOREIGN_SERVER_FLOWS } from './foreign-server-flows.ts';

/** `toolwright mcp` over its pipes, and MCP on the server, as a client of neither good nor bad will meets them. */

const root = new URL('../../../', import.meta.url).pathname;
const TSX = join(root, 'node_modules/tsx/dist/cli.mjs');
const MB = 1024 * 1024;

type Message = { id?: unknown; method?: string; result?: Record<string, unknown>; error?: { code: number } };

export const mcpStdioRunner: Runner = {
  kind: 'execute',
  run: overPipes,
  texts: { mcp: (_fixture, seen) => (seen.detail as { text: string | null }).text },
};

async function overPipes(fixture: Fixture): Promise<Observation | undefined> {
  const { input, class: name } = fixture.attack;
  if (input['transport'] !== 'stdio') return undefined;
  const client = new RawClient(fixture);
  try {
    await client.open();
    const startedAt = performance.now();
    const seen = await (FLOWS[name] ?? callFlow)(client, fixture);
    if (seen === undefined) return undefined;
    const durationMs = seen.durationMs ?? performance.now() - startedAt;
    return { text: '', detail: { text: null }, ...seen, durationMs };
  } finally {
    client.kill();
  }
}

type Flow = (
  client: RawClient,
  fixture: Fixture,
) => Promise<(Partial<Observation> & Pick<Observation, 'outcomes'>) | undefined>;

const callFlow: Flow = async (client, { attack }) => {
  const params = attack.input['params'] as { name: string; arguments: unknown };
  if (!(await client.offers(params.name)) && /^[a-z_]+$/.test(params.name) && !params.name.startsWith('__'))
    return undefined;
  const answer = await client.request('tools/call', params);
  const alive = (await client.request('ping', {})).error === undefined;
  // A change of a command that a person was asked about and refused is a refusal, though the command itself ran.
  const outcomes = client.refused > 0 ? (['ask'] as const) : outcomesOf(answer);
  const problem = client.impure.length === 0 ? null : `stdout had ${client.impure[0]?.slice(0, 100)}`;
  return { outcomes, text: JSON.stringify(answer), answersAfter: alive, detail: { text: problem } };
};

const FLOWS: Readonly<Record<string, Flow>> = {
  'mcp.huge-line': async (client) => {
    const before = client.residentMegabytes();
    const part = Buffer.alloc(MB, 'a');
    for (let count = 0; count < 64; count++) await client.write(part);
    await client.write('\n');
    const answer = await client.request('tools/list', {});
    const grown = client.residentMegabytes() - before;
    const problem = grown > 128 ? `it grew by ${grown} MB` : answer.result === undefined ? 'no answer came' : null;
    const outcomes: OutcomeName[] = client.refusals.length > 0 ? ['error'] : [];
    return { outcomes, answersAfter: answer.result !== undefined, detail: { text: problem } };
  },
  'mcp.garbage': async (client, { attack }) => {
    await client.write(`${String(attack.input['raw']).replaceAll('\\n', '\n')}`);
    const answer = await client.request('tools/list', {});
    const codes = client.refusals.map(({ error }) => error?.code);
    const fits = codes.length > 0 && codes.every((code) => code === -32700 || code === -32600);
    const outcomes: OutcomeName[] = fits ? ['error'] : [];
    const problem = fits ? null : `it answered ${codes.join()}`;
    return { outcomes, answersAfter: answer.result !== undefined, detail: { text: problem } };
  },
  'mcp.parent-death': (client, fixture) => whileSleeping(client, fixture, () => client.hangUp()),
  'mcp.cancel': (client, fixture) =>
    whileSleeping(client, fixture, (id) => client.notify('notifications/cancelled', { requestId: id })),
  'mcp.roots-widen': async (client, { values }) => {
    client.roots = [{ uri: 'file:///', name: 'everything' }];
    client.notify('notifications/roots/list_changed', {});
    await sleep(200);
    const path = join(values['OUT'] ?? '', 'secret.txt');
    const answer = await client.request('tools/call', { name: 'read_file', arguments: { path } });
    const text = JSON.stringify(answer);
    return { outcomes: outcomesOf(answer), text, detail: { text: text.includes('CANARY-OUT') ? 'it was read' : null } };
  },
};

/** A long command with a mark in its environment, and then what ends it. */
async function whileSleeping(
  client: RawClient,
  { values }: Fixture,
  end: (id: number) => void,
): Promise<Awaited<ReturnType<Flow>>> {
  if (!(await client.offers('bash'))) return undefined;
  const mark = values['MARK'] ?? '';
  const command = `MARKED=${mark} sleep 300`;
  const id = client.start('tools/call', { name: 'bash', arguments: { command, timeout: 600 } });
  const begun = performance.now();
  while (markedProcesses(mark).length === 0 && performance.now() - begun < 30_000) await sleep(50);
  if (markedProcesses(mark).length === 0) return { outcomes: [], text: 'the command did not start' };
  const endedAt = performance.now();
  end(id);
  while (markedProcesses(mark).length > 0 && performance.now() - endedAt < 10_000) await sleep(20);
  return { outcomes: ['allow'], durationMs: performance.now() - endedAt };
}

function outcomesOf({ error, result }: Message): OutcomeName[] {
  if (error !== undefined) return ['error'];
  if (result?.['isError'] !== true) return ['allow'];
  const { code } = ((result['_meta'] as Record<string, unknown>)['toolwright/error'] ?? {}) as { code?: string };
  if (code === 'APPROVAL_DENIED') return ['ask', 'deny'];
  return code === 'PERMISSION_DENIED' || code === 'INVALID_PATH' ? ['deny', 'error'] : ['error'];
}

class RawClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<unknown, (message: Message) => void>();
  readonly #approves: boolean;
  /** Lines of its stdout that are no messages. */
  readonly impure: string[] = [];
  /** Errors that belong to no request. */
  readonly refusals: Message[] = [];
  roots: object[] = [];
  /** Questions to the person that were answered with no. */
  refused = 0;
  #next = 0;

  constructor({ workspace, folder, values, attack }: Fixture) {
    const asks = { TOOLWRIGHT_ASK: ASK_ABOUT_CHANGES };
    const env = { PATH: process.env['PATH'], HOME: values['HOME'], TMPDIR: join(folder, 'tmp'), ...asks };
    const settings = ['--set', `stateDir=${join(folder, 'mcp-state')}`];
    const args = [TSX, join(root, 'src/cli/main.ts'), 'mcp', '-w', workspace, '--set', 'logLevel=silent', ...settings];
    this.#approves = attack.expect.any_of.every((each) => each === 'allow');
    this.#child = spawn(process.execPath, args, { env });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.resume();
    createInterface(this.#child.stdout).on('line', (line) => this.#read(line));
  }

  async open(): Promise<void> {
    const capabilities = { elicitation: {}, roots: { listChanged: true } };
    const clientInfo = { name: 'attacker', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.notify('notifications/initialized', {});
  }

  start(method: string, params: unknown, tell: (message: Message) => void = () => {}): number {
    const id = ++this.#next;
    this.#waiting.set(id, tell);
    void this.#send({ id, method, params });
    return id;
  }

  request(method: string, params: unknown): Promise<Message> {
    return new Promise((resolve) => {
      this.start(method, params, resolve);
      setTimeout(() => resolve({ error: { code: 0 } }), 30_000).unref();
    });
  }

  async offers(tool: string): Promise<boolean> {
    const { result } = await this.request('tools/list', {});
    const tools = (result?.['tools'] ?? []) as { name: string }[];
    return tools.some(({ name }) => name === tool);
  }

  notify(method: string, params: unknown): void {
    void this.#send({ method, params });
  }

  write(bytes: Buffer | string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.stdin.write(bytes)) resolve();
      else this.#child.stdin.once('drain', resolve);
    });
  }

  hangUp(): void {
    this.#child.stdin.destroy();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  residentMegabytes(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  }

  #send(message: object): Promise<void> {
    return this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #read(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line);
    } catch {
      this.impure.push(line);
      return;
    }
    if (message.method === 'elicitation/create') this.#answer(message.id, this.#decision());
    else if (message.method === 'roots/list') this.#answer(message.id, { roots: this.roots });
    else if (message.error !== undefined && (message.id === null || message.id === undefined))
      this.refusals.push(message);
    else this.#waiting.get(message.id)?.(message);
  }

  #decision(): object {
    if (!this.#approves) this.refused++;
    return { action: 'accept', content: { decision: this.#approves ? 'allow' : 'deny' } };
  }

  #answer(id: unknown, result: object): void {
    void this.#send({ id, result });
  }
}

export const mcpHttpRunner: Runner = {
  kind: 'execute',
  run: overHttp,
  texts: { mcp: (_fixture, seen) => (seen.detail as { text: string | null }).text },
};

async function overHttp(fixture: Fixture): Promise<Observation> {
  const foreign = FOREIGN_SERVER_FLOWS[fixture.attack.class];
  if (foreign !== undefined) return { ...(await foreign(fixture)), durationMs: 0 };
  const { workspace, folder, attack } = fixture;
  const flags = { port: '0', stateDir: join(folder, 'mcp-state') };
  const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: join(folder, 'home') };
  const started = await startServer({ workspaces: [workspace], env, flags, home: join(folder, 'home') });
  if (!started.ok) throw new Error(started.error.message);
  const { url, token, close } = started.value;
  const startedAt = performance.now();
  try {
    const seen =
      attack.class === 'mcp.session-entropy' ? await manySessions(url, token) : await send(url, token, attack);
    return { ...seen, durationMs: performance.now() - startedAt };
  } finally {
    await close();
  }
}

type HttpSeen = Omit<Observation, 'durationMs'>;
const ACCEPT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function initialize(url: string, token: string): Promise<Response> {
  const clientInfo = { name: 'attacker', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  return fetch(`${url}/mcp`, { method: 'POST', headers: { ...ACCEPT, authorization: `Bearer ${token}` }, body });
}

async function send(url: string, token: string, { input, expect }: Fixture['attack']): Promise<HttpSeen> {
  await (await initialize(url, token)).text();
  const given = input['headers'] as Record<string, string>;
  const headers = Object.fromEntries(
    Object.entries({ ...ACCEPT, ...given }).map(([name, value]) => [
      name,
      name.toLowerCase() === 'authorization' ? `Bearer ${token}` : value,
    ]),
  );
  const { status, text } = await rawRequest(url, headers, JSON.stringify(input['body']));
  const wanted = expect.assert.find((each) => each.startsWith('status:'))?.slice('status:'.length) ?? String(status);
  const problem = wanted.split('|').includes(String(status)) ? null : `the status is ${status}`;
  const attributed = text.includes('ok.txt') ? 'it was attributed to the live session' : null;
  return {
    outcomes: status >= 400 && status !== 404 ? ['reject'] : ['allow'],
    text: `${status} ${text}`,
    detail: { text: problem ?? attributed },
  };
}

/** `fetch` does not let a caller name another host. */
async function rawRequest(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; text: string }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method: 'POST', headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function manySessions(url: string, token: string): Promise<HttpSeen> {
  const ids: string[] = [];
  for (let count = 0; count < 1000; count += 20) {
    const opened = await Promise.all(Array.from({ length: 20 }, () => initialize(url, token)));
    for (const response of opened) {
      await response.text();
      ids.push(response.headers.get('mcp-session-id') ?? '');
    }
  }
  const headers = { ...ACCEPT, 'mcp-session-id': ids[0] ?? '' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { status } = await rawRequest(url, headers, body);
  return { outcomes: ['allow'], text: '', detail: { text: problemWith(ids, status) } };
}

function problemWith(ids: readonly string[], statusWithoutToken: number): string | null {
  if (new Set(ids).size !== 1000) return 'an id came twice';
  if (ids.some((id) => Buffer.from(id, 'base64url').length < 16)) return 'an id has less than 128 bits';
  const sorted = [...ids].sort();
  if (ids.every((id, index) => id === sorted[index])) return 'the ids are sequential';
  return statusWithoutToken === 401 ? null : `an id without a token was answered with ${statusWithoutToken}`;
}
