import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { addToken } from '../../src/app/admin/tokens.ts';
import { ok, type Result } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { type Json, TestServer } from './test-server.ts';

const held: (() => void)[] = [];
const hold = defineTool({
  name: 'hold',
  description: 'Lasts until it is let go.',
  input: z.object({}),
  access: () => [],
  run: (_, { signal }) =>
    new Promise<Result<string>>((resolve) => {
      held.push(() => resolve(ok('let go')));
      signal.addEventListener('abort', () => resolve(ok('stopped')));
    }),
});

let server: TestServer;
let [here, there] = ['', ''];
let elsewhere = '';
beforeAll(async () => {
  server = new TestServer({ tools: [hold], pages: '/nowhere/at/all' });
  elsewhere = join(server.home, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'b.txt'), 'two\n');
  server.with({ workspaces: [server.workspace, elsewhere] });
  await server.start();
  [here = '', there = ''] = [...server.host.workspaces.keys()];
  await server.post('/v1/sessions', { id: 'first', workspace: here });
  await server.post('/v1/sessions', { id: 'second', workspace: there });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Reads a stream until it ends. */
function listen(path: string, token: string | undefined, headers: Record<string, string> = {}) {
  const state = { text: '', ended: false };
  const reading = (async () => {
    const { body } = await server.fetch(path, { headers, ...(token !== undefined && { token }) });
    for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) state.text += chunk;
  })();
  reading
    .catch(() => {})
    .finally(() => {
      state.ended = true;
    });
  return state;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (await holds()) return;
    await delay(10);
  }
  throw new Error('it does not come');
}

describe('workspaces of one server', () => {
  test('whoever listens to a session hears of the files of its workspace, and of no other', async () => {
    const [one, two, all] = ['first', 'second', ''].map((id) =>
      listen(id === '' ? '/v1/events' : `/v1/events?session=${id}`, undefined),
    );
    await until(async () => {
      writeFileSync(join(server.workspace, 'alpha.txt'), `${Math.random()}`);
      writeFileSync(join(elsewhere, 'beta.txt'), `${Math.random()}`);
      await delay(50);
      return [one?.text.includes('alpha.txt'), two?.text.includes('beta.txt')].every(Boolean);
    });
    expect(one?.text).not.toContain('beta.txt');
    expect(two?.text).not.toContain('alpha.txt');
    await until(() => all?.text.includes('alpha.txt') === true && all.text.includes('beta.txt'));
  });

  test('a token that is limited to a session saves no rule, which would hold in all of them', async () => {
    const token = await server.tokenFor('guest', 'approver', ['first']);
    const body = { tool: 'bash', args: { command: 'npm ci' }, session: 'first', wait: false };
    const { id } = (await server.post('/v1/calls', body)).body;
    await until(async () => (await server.host.ledger.approvalOf(id)) !== null);
    const asked = await server.host.ledger.approvalOf(id);
    const path = `/v1/approvals/${asked?.id}/approve`;
    const always = { digest: asked?.digest, always: 'bash(npm ci)' };
    const headers = { 'Content-Type': 'application/json' };
    const refused = await server.fetch(path, { method: 'POST', token, headers, body: JSON.stringify(always) });
    expect(refused.status).toBe(403);
    expect(await server.host.ledger.rules()).toEqual([]);
    expect((await server.host.ledger.approvalOf(id))?.state).toBe('pending');
    await server.post(`/v1/calls/${id}/cancel`, {});
  });

  test('a token that is limited to a session is told of its workspace alone, and opens none elsewhere', async () => {
    const token = await server.tokenFor('limited', 'approver', ['second', 'third']);
    await server.ask();
    const { body } = await server.get('/v1/health', token);
    expect(body.workspaces.map(({ id }: Json) => id)).toEqual([there]);
    expect(body.pendingApprovals).toBe(0);
    for (const workspace of [here, there, undefined])
      await server.post('/v1/rules', { rule: 'bash(make)', verdict: 'deny', workspace });
    const rules = (await server.get('/v1/rules', token)).body.items;
    expect(rules).toHaveLength(2);
    expect(rules.map(({ workspace }: Json) => workspace)).toEqual(expect.arrayContaining([there, null]));
    const own = await server.tokenFor('fresh', 'agent', ['fourth']);
    expect((await server.post('/v1/sessions', { id: 'fourth', workspace: there }, own)).status).toBe(404);
    expect((await server.post('/v1/sessions', { id: 'third', workspace: there }, token)).status).toBe(201);
  });

  test('what a person saves and takes back is in the history with their name, in each workspace', async () => {
    const token = await server.tokenFor('ann', 'approver');
    const save = await server.fetch(`/v1/files/content?path=n.txt&workspace=${there}`, {
      method: 'PUT',
      token,
      headers: { 'If-None-Match': '*' },
      body: JSON.stringify({ content: 'by ann\n' }),
    });
    const { callId } = (await save.json()) as Json;
    expect(readFileSync(join(elsewhere, 'n.txt'), 'utf8')).toBe('by ann\n');
    const undone = await server.post(`/v1/calls/${callId}/undo`, {}, token);
    expect(undone).toMatchObject({ status: 200, body: { restored: ['n.txt'] } });
    expect((await server.post(`/v1/calls/${callId}/undo`, {}, token)).status).toBe(409);
    expect((await server.post('/v1/calls/nobody/undo', {}, token)).status).toBe(404);
    const { body } = await server.get('/v1/history?limit=2');
    expect(body.items.map(({ tool, state, args }: Json) => [tool, state, args.by])).toEqual([
      ['person:undo', 'failed', 'ann'],
      ['person:undo', 'succeeded', 'ann'],
    ]);
    const saves = await server.get('/v1/history?tool=person:save');
    expect(saves.body.items).toMatchObject([{ id: callId, args: { by: 'ann', path: 'n.txt' }, state: 'succeeded' }]);
    const inThere = saves.body.items[0].session;
    expect((await server.post('/v1/calls', { tool: 'hold', session: inThere }, token)).status).toBe(404);
  });
});

test("rules of the workspaces' own files are listed with their workspace, for those who see it", async () => {
  await using server = new TestServer();
  const other = join(server.home, 'other');
  for (const [folder, rules] of [
    [server.workspace, { deny: ['bash(make *)', 'bash(rm *)'] }],
    [other, { deny: ['bash(npm *)'], ask: ['web_fetch'] }],
  ] as const) {
    mkdirSync(join(folder, '.toolwright'), { recursive: true });
    writeFileSync(join(folder, '.toolwright/config.json'), JSON.stringify(rules));
  }
  server.with({ workspaces: [server.workspace, other], flags: { deny: 'bash(rm *)' } });
  await server.start();
  const [one = '', two = ''] = server.host.workspaces.keys();
  await server.post('/v1/rules', { rule: 'bash(curl *)', verdict: 'deny' });
  await server.post('/v1/sessions', { id: 'second', workspace: two });
  const seen = async (token?: string) =>
    (await server.get('/v1/rules', token)).body.items.map(({ rule, workspace }: Json) => [rule, workspace]);
  const everywhere = ['bash(rm *)', null];
  const saved = ['bash(curl *)', null];
  const ofSecond = [
    ['bash(npm *)', two],
    ['web_fetch', two],
  ];
  expect(await seen()).toEqual([everywhere, ['bash(make *)', one], ofSecond[0], saved, ofSecond[1]]);
  const limited = await server.tokenFor('limited', 'viewer', ['second']);
  expect(await seen(limited)).toEqual([everywhere, ofSecond[0], saved, ofSecond[1]]);
});

describe('a session', () => {
  test('that a token works in without naming one is opened by that token alone', async () => {
    const [alice, eve] = [await server.tokenFor('alice', 'agent'), await server.tokenFor('eve', 'agent')];
    const theirs = await server.post('/v1/sessions', { id: 'api-alice', workspace: there }, eve);
    expect(theirs).toMatchObject({ status: 403, body: { detail: expect.stringContaining('to another token') } });
    expect((await server.post('/v1/sessions', { id: 'api-nobody', workspace: there }, eve)).status).toBe(403);
    const read = { tool: 'read_file', args: { path: 'a.txt' } };
    expect((await server.post('/v1/calls', read, alice)).body).toMatchObject({ state: 'succeeded' });
    expect((await server.post('/v1/sessions', { id: 'api-eve', workspace: there }, eve)).status).toBe(201);
    const granted = await server.tokenFor('granted', 'agent', ['api-shared']);
    expect((await server.post('/v1/sessions', { id: 'api-shared' }, granted)).status).toBe(201);
  });

  test('is made once, whoever else makes it at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const id = `twice-${round}`;
      const made = await Promise.all([here, there].map((workspace) => server.post('/v1/sessions', { id, workspace })));
      expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409]);
      const winner = made.find(({ status }) => status === 201)?.body;
      expect((await server.get(`/v1/sessions/${id}`)).body.workspace).toBe(winner.workspace);
      expect(await server.host.ledger.events(id)).toMatchObject([{ data: { workspace: winner.workspace } }]);
    }
  });

  test('is made once also where another process makes it at the same moment', async () => {
    const { ledger } = server.host;
    const { session } = ledger;
    const data = { workspace: there, title: null, agent: null, by: 'another process' };
    ledger.session = async (id) => {
      const before = await session(id);
      if (before === null) await ledger.note(id, { type: 'session.created', callId: null, at: Date.now(), data });
      return before;
    };
    try {
      expect((await server.post('/v1/sessions', { id: 'elsewhere', workspace: here })).status).toBe(409);
    } finally {
      ledger.session = session;
    }
  });
});

describe('a token', () => {
  test('that is taken back while its stream is being opened gets none', async () => {
    const token = await server.tokenFor('hasty', 'viewer', ['first']);
    const { ledger } = server.host;
    const { session } = ledger;
    const revoked = new Promise<void>((resolve) => server.tokens.onRevoked(() => resolve()));
    ledger.session = async (id) => {
      writeFileSync(join(server.host.stateDir, 'tokens.json'), '[]');
      await revoked;
      return session(id);
    };
    try {
      expect((await server.fetch('/v1/events?session=first', { token })).status).toBe(401);
    } finally {
      ledger.session = session;
    }
  });

  test('that is taken back or narrowed ends its streams at once, and nobody else’s', async () => {
    const [gone, less, kept] = await Promise.all(
      ['gone', 'less', 'kept'].map((name) => server.tokenFor(name, 'viewer')),
    );
    const streams = [gone, less, kept].map((token) => listen('/v1/events', token));
    await until(() => streams.every(({ text }) => text.includes('retry:')));
    const path = join(server.host.stateDir, 'tokens.json');
    const users = JSON.parse(readFileSync(path, 'utf8')) as { name: string; sessions: string[] | null }[];
    const now = users.filter(({ name }) => name !== 'gone');
    for (const user of now) if (user.name === 'less') user.sessions = ['first'];
    writeFileSync(path, JSON.stringify(now));
    await until(() => streams[0]?.ended === true && streams[1]?.ended === true);
    expect(streams[2]?.ended).toBe(false);
    expect((await server.get('/v1/health', gone)).status).toBe(401);
    expect((await server.fetch('/v1/events', { token: less ?? '' })).status).toBe(403);
  });

  test('cannot be named owner: answers are recorded under that name', async () => {
    for (const name of ['owner', 'Owner'])
      expect(await addToken(server.host.stateDir, { name, role: 'agent', sessions: null })).toMatchObject({
        ok: false,
      });
  });

  test('gets its share of the places for calls, and others find theirs', async () => {
    const [greedy, modest] = [await server.tokenFor('greedy', 'agent'), await server.tokenFor('modest', 'agent')];
    const told: number[] = [];
    const calls = Array.from({ length: 253 }, async () => {
      const { status } = await server.post('/v1/calls', { tool: 'hold' }, greedy);
      told.push(status);
    });
    await until(() => told.length === 3);
    expect(told).toEqual([429, 429, 429]);
    const other = server.post('/v1/calls', { tool: 'hold' }, modest);
    await until(() => held.length === 251);
    for (const letGo of held.splice(0)) letGo();
    expect((await other).body.state).toBe('succeeded');
    await Promise.all(calls);
    expect(told.filter((status) => status === 200)).toHaveLength(250);
  }, 120_000);

  test('that repeats a request under its key has no place for it when the answer is no longer needed', async () => {
    const token = await server.tokenFor('eager', 'agent');
    const request = { tool: 'hold', key: 'again' };
    const first = await server.post('/v1/calls', { ...request, wait: false }, token);
    const body = JSON.stringify(request);
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController();
      const waiting = Array.from({ length: 100 }, () =>
        server.fetch('/v1/calls', { method: 'POST', body, token, signal: gone.signal }).then(
          ({ status }) => status,
          () => 'gone',
        ),
      );
      await Promise.race([...waiting, delay(1500)]);
      gone.abort();
      expect(new Set(await Promise.all(waiting))).toEqual(new Set(['gone']));
    }
    for (let repeated = 0; repeated < 260; repeated++) {
      const { status, body } = await server.post('/v1/calls', { ...request, wait: false }, token);
      expect([status, body.id]).toEqual([202, first.body.id]);
    }
    for (const letGo of held.splice(0)) letGo();
    expect(await server.ended(first.body.id)).toMatchObject({ state: 'succeeded' });
  }, 120_000);
});

test('a call is cancelled by its id, whichever door it came through', async () => {
  const workspace = server.host.workspaces.get(here);
  const running = workspace?.executor.execute('hold', { ...workspace.context, sessionId: 'first' });
  await until(() => held.length > 0);
  await until(async () => (await server.get('/v1/history?session=first&state=running')).body.items.length === 1);
  const { body } = await server.get('/v1/history?session=first&state=running');
  expect((await server.post(`/v1/calls/${body.items[0].id}/cancel`)).status).toBe(202);
  expect(await running).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
  expect(await server.ended(body.items[0].id)).toMatchObject({ state: 'interrupted' });
});

test('questions come in pages, and a token that may see few of them gets full pages of those', async () => {
  const token = await server.tokenFor('one', 'viewer', ['second']);
  for (const session of ['first', 'second', 'first', 'second', 'second'])
    await server.post('/v1/calls', {
      tool: 'write_file',
      args: { path: session === 'first' ? 'a.txt' : 'b.txt', content: 'x' },
      session,
      wait: false,
    });
  await until(async () => (await server.get('/v1/approvals?session=second')).body.items.length === 3);
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await server.get(`/v1/approvals?limit=2${after}`, token);
    seen.push(...body.items.map(({ session }: Json) => session));
    if (body.next === null) break;
    expect(body.items).toHaveLength(2);
    after = `&after=${body.next}`;
  }
  expect(seen).toEqual(['second', 'second', 'second']);
});

test('sessions are listed with the newest activity first, page by page', async () => {
  await server.post('/v1/sessions', { id: 'aaa' });
  await delay(5);
  await server.post('/v1/calls', { tool: 'read_file', args: { path: 'b.txt' }, session: 'second' });
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await server.get(`/v1/sessions?limit=2${after}`);
    ids.push(...body.items.map(({ id }: Json) => id));
    if (body.next === null) break;
    after = `&after=${encodeURIComponent(body.next)}`;
  }
  expect(ids.slice(0, 2)).toEqual(['second', 'aaa']);
  expect(ids).toContain('first');
  expect(new Set(ids).size).toBe(ids.length);
});

test('a reader that comes with an id the log never had is told to look anew, and hears what comes', async () => {
  const stream = listen('/v1/events?session=first', undefined, { 'Last-Event-ID': '999999' });
  await until(() => stream.text.includes('stream.reset'));
  await server.post('/v1/calls', { tool: 'read_file', args: { path: 'a.txt' }, session: 'first' });
  await until(() => stream.text.includes('call.finished'));
});

test('a demo that cannot be played leaves no session, and missing pages no broken server', async () => {
  expect((await server.post('/v1/demo')).status).toBe(501);
  const { body } = await server.get('/v1/sessions?limit=200');
  expect(body.items.filter(({ id }: Json) => id.startsWith('demo-'))).toEqual([]);
  expect((await server.fetch('/', { token: null })).status).toBe(200);
  expect((await server.fetch('/chat/x', { token: null })).status).toBe(404);
});
