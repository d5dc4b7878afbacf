import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../../../src/app/start-server.ts';
import { ROUTES } from '../../../src/protocol/routes.ts';
import { TestServer } from '../../server/test-server.ts';
import type { Attack, Observation, OutcomeName } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner, TextCheck } from '../harness.ts';
import { send, sendRaw, type WireAnswer } from '../raw-http.ts';
import { explainBesideOthers, limitedStreams, ruleByHand, startWithOpenSettings } from './server-flows.ts';

/** The effects of a case on the server, for the checks. */
export interface ServerDetail {
  readonly server: TestServer;
  readonly answers: readonly WireAnswer[];
  /** The finding of a hand-written check; null when there is none. */
  readonly wrong: string | null;
}

/** Requests against a real server in the case's own folders, with one question waiting where the case needs it. */
export const serverRunner: Runner = {
  kind: 'execute',
  async run(fixture) {
    await using server = await serverFor(fixture);
    const startedAt = performance.now();
    const { answers, wrong } = await attempt(fixture, server);
    const durationMs = performance.now() - startedAt;
    const answersAfter = (await server.get('/v1/health')).status === 200;
    const outcomes = [...new Set(answers.map(({ status }) => outcomeOf(status, fixture.attack)))];
    const text = answers.map((answer) => JSON.stringify(answer)).join('\n');
    const detail: ServerDetail = { server, answers, wrong };
    return { outcomes, text, durationMs, answersAfter, detail } satisfies Observation;
  },
  texts: { srv: checkServer },
};

/** Starting it, and what lies in its state directory afterwards. */
export const configRunner: Runner = {
  kind: 'execute',
  async run(fixture) {
    const { input, class: name } = fixture.attack;
    const special = CONFIG_FLOWS[name];
    if (special !== undefined) {
      const outcome = await special(fixture);
      const wrong = outcome === 'allow' ? 'it went unnoticed' : null;
      return { outcomes: [outcome], text: '', durationMs: 0, detail: { answers: [], wrong } };
    }
    const flags: Record<string, string> = { port: '0' };
    const host = /--host (\S+)/.exec(String(input.start ?? ''))?.[1];
    if (host !== undefined) flags.host = host;
    const place = {
      workspaces: [fixture.workspace],
      env: { PATH: fixture.path ?? '' },
      home: fixture.values.HOME ?? '',
    };
    const started = await startServer({ ...place, flags });
    const wrong = started.ok && name === 'srv.token-file' ? openFiles(started.value.host.stateDir) : null;
    const url = started.ok ? started.value.url : '';
    if (started.ok) await started.value.close();
    const plain = await startServer({ ...place, flags: { port: '0' } });
    const byDefault = plain.ok ? plain.value.url : '';
    if (plain.ok) await plain.value.close();
    const elsewhere = byDefault.startsWith('http://127.0.0.1:') ? null : `it listens on ${byDefault}`;
    const text = started.ok ? url : started.error.message;
    const outcomes: OutcomeName[] = [started.ok ? 'allow' : 'reject'];
    return { outcomes, text, durationMs: 0, detail: { answers: [], wrong: wrong ?? elsewhere } };
  },
  texts: { srv: (_fixture, seen) => (seen.detail as ServerDetail).wrong },
};

const CONFIG_FLOWS: Readonly<Record<string, (fixture: Fixture) => Promise<OutcomeName>>> = {
  'srv.config-writable': startWithOpenSettings,
  'srv.rule-projection': ruleByHand,
};

async function serverFor(fixture: Fixture): Promise<TestServer> {
  writeFileSync(join(fixture.folder, 'static/index.html'), '<!doctype html><title>page</title>');
  return TestServer.start({
    workspaces: [fixture.workspace],
    home: fixture.values.HOME ?? '',
    pages: join(fixture.folder, 'static'),
  });
}

async function attempt(fixture: Fixture, server: TestServer): Promise<{ answers: WireAnswer[]; wrong: string | null }> {
  const { class: name, setup } = fixture.attack;
  const asked = setup.some((line) => line.includes('pending approval'))
    ? await server.ask({ path: 'ok.txt', content: 'x' })
    : undefined;
  const id = asked?.approval.id as string | undefined;
  const input = realValues(fixture, server, id);
  const special = SPECIAL[name];
  if (special !== undefined) return special(server, input);
  if (typeof input.raw === 'string') return { answers: [await sendRaw(server, unescaped(input.raw))], wrong: null };
  const answers = [await one(server, input)];
  if (id === undefined) return { answers, wrong: null };
  const [still] = await server.pending();
  return { answers, wrong: still?.id === id ? null : 'the request is no longer pending' };
}

type Input = Record<string, unknown>;
type Special = (server: TestServer, input: Input) => Promise<{ answers: WireAnswer[]; wrong: string | null }>;

const SPECIAL: Readonly<Record<string, Special>> = {
  async 'srv.no-auth'(server, { headers }) {
    const answers: WireAnswer[] = [];
    for (const { method, path } of Object.values(ROUTES)) {
      const body = method === 'GET' ? null : '{}';
      answers.push(await one(server, { method, path: path.replace(/:\w+/g, 'x'), headers, body }));
    }
    return { answers, wrong: null };
  },

  async 'srv.token-guess'(server, input) {
    const answers: WireAnswer[] = [];
    for (let tries = 0; tries < 30; tries++) answers.push(await one(server, input));
    const slowed = answers.at(-1)?.status === 429 ? null : 'thirty wrong tokens were not slowed down';
    const long = server.tokens.own.length >= 22 ? null : 'the token is short';
    const locked = (await server.get('/v1/health')).status === 200 ? null : 'the right token was locked out';
    return { answers: answers.slice(0, 1), wrong: slowed ?? long ?? locked };
  },

  async 'srv.host-variants'(server, input) {
    const { port } = server.running;
    const auth = `Authorization: Bearer ${server.tokens.own}\r\n`;
    const answers = [
      await one(server, input),
      await sendRaw(server, `GET /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.test\r\n${auth}\r\n`),
      await sendRaw(server, `GET /v1/sessions HTTP/1.1\r\n${auth}\r\n`),
    ];
    return { answers, wrong: null };
  },

  async 'srv.slowloris'(server) {
    const sockets = await Promise.all(Array.from({ length: 500 }, () => dribble(server)));
    const startedAt = performance.now();
    const { status } = await server.get('/v1/health');
    const took = performance.now() - startedAt;
    const wrong = status !== 200 || took > 1000 ? `a normal request took ${Math.round(took)} ms (${status})` : null;
    for (let waited = 0; waited < 30_000 && sockets.some(({ destroyed }) => !destroyed); waited += 100)
      await delay(100);
    const left = sockets.filter(({ destroyed }) => !destroyed).length;
    for (const socket of sockets) socket.destroy();
    return {
      answers: [answer(left === 0 ? 408 : 200)],
      wrong: wrong ?? (left === 0 ? null : `${left} are still open`),
    };
  },

  async 'srv.sse-flood'(server) {
    const sockets = await Promise.all(Array.from({ length: 300 }, () => unreadStream(server)));
    for (let round = 0; round < 50; round++) {
      const data = { messageId: `m${round}`, role: 'notice', text: 'x'.repeat(20_000) } as const;
      await server.host.ledger.note('flood', { type: 'message.added', callId: null, at: Date.now(), data });
    }
    await delay(300);
    const refused = sockets.filter(({ status }) => status() === 429).length;
    for (const { socket } of sockets) socket.destroy();
    return { answers: [answer(429)], wrong: refused > 200 ? null : `only ${refused} of 300 were refused` };
  },

  async 'srv.token-rotation'(server, input) {
    const old = server.tokens.own;
    const stream = await unreadStream(server, { readOn: true });
    await server.post('/v1/token/rotate');
    for (let tries = 0; tries < 200 && !stream.socket.destroyed; tries++) await delay(10);
    const headers = Object.fromEntries(Object.entries(input.headers as object).map(([key]) => [key, `Bearer ${old}`]));
    const wrong = stream.socket.destroyed ? null : 'a stream of the old token is still open';
    stream.socket.destroy();
    return { answers: [await one(server, { ...input, headers })], wrong };
  },

  'srv.explain-blocks': explainBesideOthers,
  'srv.limited-sse': limitedStreams,

  async 'srv.proto-pollution'(server, input) {
    const answers = [await one(server, input)];
    const polluted = ({} as { approved?: unknown }).approved !== undefined;
    return { answers, wrong: polluted ? 'Object.prototype was changed' : null };
  },
};

function one(server: TestServer, input: Input): Promise<WireAnswer> {
  const {
    method = 'GET',
    path = '/',
    headers,
    body,
  } = input as { method?: string; path?: string; headers?: object; body?: unknown };
  const given = Object.fromEntries(Object.entries(headers ?? {}).map(([key, value]) => [key, String(value)]));
  const isSocket = path === '/ws' && input.method === undefined;
  if (isSocket) {
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    return send(server, { method: 'GET', path, headers: { ...upgrade, ...given } });
  }
  const content = bodyOf(body);
  const type = content === null || given['Content-Type'] !== undefined ? {} : { 'Content-Type': 'application/json' };
  const length = typeof content === 'string' ? { 'Content-Length': String(Buffer.byteLength(content)) } : {};
  return send(server, { method, path, headers: { ...type, ...length, ...given }, body: content });
}

function bodyOf(body: unknown): string | AsyncIterable<Buffer> | null {
  if (body == null || typeof body === 'string') return body ?? null;
  const wish = (body as { $gen?: string }).$gen;
  if (wish === undefined) return JSON.stringify(body);
  const megabytes = /^(\d+) MB/.exec(wish)?.[1];
  if (megabytes !== undefined) return large(Number(megabytes));
  const depth = Number(/(\d+) nested/.exec(wish)?.[1] ?? 100_000);
  return `{"tool":"read_file","args":${'['.repeat(depth)}${']'.repeat(depth)}}`;
}

async function* large(megabytes: number): AsyncIterable<Buffer> {
  yield Buffer.from('"');
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  for (let sent = 0; sent < megabytes; sent++) yield chunk;
  yield Buffer.from('"');
}

/** The case was filled in before the server was there. */
function realValues({ attack, values }: Fixture, server: TestServer, id: string | undefined): Input {
  const text = JSON.stringify(attack.input)
    .replaceAll(values.PORT ?? '\0', String(server.running.port))
    .replaceAll(values.TOKEN ?? '\0', server.tokens.own)
    .replaceAll(values.ID ?? '\0', id ?? 'nothing');
  return JSON.parse(text);
}

function dribble(server: TestServer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.running.port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nX: ');
      const timer = setInterval(() => socket.write('x'), 1000);
      socket.on('close', () => clearInterval(timer));
      resolve(socket);
    });
    socket.on('error', () => socket.destroy());
    socket.once('error', reject);
    socket.resume();
  });
}

async function unreadStream(
  server: TestServer,
  { readOn = false } = {},
): Promise<{ socket: Socket; status(): number }> {
  const socket = connect(server.running.port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  let head = '';
  const { port } = server.running;
  socket.write(
    `GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${server.tokens.own}\r\n\r\n`,
  );
  await new Promise<void>((resolve) => {
    socket.once('data', (chunk) => {
      head = String(chunk);
      socket.pause();
      resolve();
    });
    socket.once('close', () => resolve());
  });
  if (readOn) socket.resume();
  return { socket, status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0) };
}

function answer(status: number): WireAnswer {
  return { status, headers: {}, text: '' };
}

function unescaped(raw: string): string {
  return raw.replaceAll('\\r', '\r').replaceAll('\\n', '\n');
}

/** A 404 is a refusal only where the case says so: otherwise a route that does not exist would pass for a closed one. */
function outcomeOf(status: number, { expect, class: name }: Attack): OutcomeName {
  if (status >= 200 && status < 400) return 'allow';
  const may404 =
    name.startsWith('srv.static') || expect.assert.some((each) => each.startsWith('status:') && each.includes('404'));
  return status === 404 && !may404 ? 'error' : 'reject';
}

const SECURE_HEADERS: Readonly<Record<string, RegExp>> = {
  'content-security-policy': /default-src '(none|self)'.*frame-ancestors 'none'/,
  'x-content-type-options': /^nosniff$/,
  'referrer-policy': /^no-referrer$/,
  'cross-origin-resource-policy': /^same-origin$/,
};

async function checkServer(
  fixture: Fixture,
  seen: Observation,
): ReturnType<TextCheck> extends infer R ? Promise<Awaited<R>> : never {
  const { answers, wrong } = seen.detail as ServerDetail;
  const { class: name, expect } = fixture.attack;
  for (const wanted of expect.assert.filter((each) => each.startsWith('status:'))) {
    const allowed = wanted.slice('status:'.length).split('|').map(Number);
    const other = answers.find(({ status }) => !allowed.includes(status));
    if (other !== undefined) return `status ${other.status}`;
  }
  for (const { headers, text } of answers) {
    if (headers['access-control-allow-origin'] !== undefined) return 'another origin is let in';
    if (/\n\s+at |node_modules|\/src\//.test(text)) return 'the answer shows our insides';
  }
  if (name === 'srv.clickjacking') {
    for (const [header, fits] of Object.entries(SECURE_HEADERS)) {
      if (!fits.test(String(answers[0]?.headers[header]))) return `${header} is ${answers[0]?.headers[header]}`;
    }
    if (/unsafe-inline/.test(String(answers[0]?.headers['content-security-policy']))) return 'inline scripts may run';
  }
  return wrong;
}

function openFiles(stateDir: string): string | null {
  const note = readdirSync(stateDir).find((name) => name.startsWith('server-')) ?? 'server-*.json';
  for (const name of ['.', 'token', 'state.db', note]) {
    const path = join(stateDir, name);
    if (!existsSync(path)) return `${name} is not there`;
    const { mode, uid } = statSync(path);
    if ((mode & 0o077) !== 0) return `${name} is open to others (${(mode & 0o777).toString(8)})`;
    if (uid !== process.getuid?.()) return `${name} belongs to somebody else`;
  }
  return null;
}
