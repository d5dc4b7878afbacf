import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { recordedEvent } from '../../src/protocol/events.ts';
import { ROLES, type Role } from '../../src/protocol/health.ts';
import type { Route } from '../../src/protocol/route.ts';
import { ROUTES } from '../../src/protocol/routes.ts';
import { asked, requestedCall } from '../../src/testing/sample-calls.ts';
import { type Json, TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start();
});
afterEach(() => server[Symbol.asyncDispose]());

const routes = Object.entries(ROUTES) as [string, Route][];
const pathOf = ({ path }: Route) => path.replace(/:\w+/g, 'x');

/** As it goes over the wire: fetch would not let Host and Origin through. */
function raw(method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = server.running;
    const asked = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('every route', () => {
  test('is closed without a token, with a wrong one, for a foreign Host and for a foreign Origin', async () => {
    const auth = { Authorization: `Bearer ${server.tokens.own}` };
    const host = `127.0.0.1:${server.running.port}`;
    for (const [, route] of routes) {
      const path = pathOf(route);
      expect([path, await raw(route.method, path, {})]).toEqual([path, 401]);
      expect([path, await raw(route.method, path, { ...auth, Host: `evil.test:${server.running.port}` })]).toEqual([
        path,
        421,
      ]);
      expect([path, await raw(route.method, path, { ...auth, Host: host, Origin: 'https://evil.test' })]).toEqual([
        path,
        403,
      ]);
      expect([path, await raw(route.method, path, { ...auth, Host: host, Origin: 'null' })]).toEqual([path, 403]);
    }
    const tries = await Promise.all(
      routes.map(([, route]) => raw(route.method, pathOf(route), { Authorization: 'Bearer wrong' })),
    );
    expect(tries.every((status) => status === 401 || status === 429)).toBe(true);
    expect((await server.get('/v1/health')).status).toBe(200);
  });

  test('needs the role it says, and no other', async () => {
    for (const role of ROLES.slice(0, -1)) {
      const token = await server.tokenFor(`a-${role}`, role);
      for (const [name, route] of routes) {
        if (name === 'streamEvents') continue;
        const status = await raw(route.method, pathOf(route), { Authorization: `Bearer ${token}` });
        const may = ROLES.indexOf(role) >= ROLES.indexOf(route.needs as Role);
        expect([name, role, status === 403]).toEqual([name, role, !may]);
      }
    }
  });

  test('nothing changes on a GET: another method is told which one to use', async () => {
    for (const [, route] of routes.filter(([, { method }]) => method !== 'GET')) {
      const isRead = routes.some(([, other]) => other.method === 'GET' && other.path === route.path);
      if (isRead) continue;
      const response = await server.fetch(pathOf(route));
      // A path with a parameter may be the path of something that can be read.
      expect([405, 404]).toContain(response.status);
    }
    expect((await server.fetch('/v1/calls')).headers.get('allow')).toBe('POST');
  });

  test('is in the OpenAPI document, with its schemas', async () => {
    const { body } = await server.get('/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    const listed = Object.entries(body.paths).flatMap(([path, item]) =>
      Object.keys(item as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).toEqual(
      routes.map(([, { method, path }]) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`).sort(),
    );
    const text = JSON.stringify(body);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(body.components.schemas)).toContain(name);
    }
    expect(text).not.toContain('$defs');
  });
});

describe('the agent', () => {
  test("'s own credential can neither approve nor change settings", async () => {
    const agent = await server.tokenFor('bot', 'agent');
    const { approval } = await server.ask();
    expect((await server.post(`/v1/approvals/${approval.id}/approve`, {}, agent)).status).toBe(403);
    expect((await server.send('PATCH', '/v1/tools/grep', { enabled: false }, agent)).status).toBe(403);
    expect((await server.post('/v1/rules', { rule: 'write_file', verdict: 'allow' }, agent)).status).toBe(403);
    expect(await server.pending()).toHaveLength(1);
  });

  test('sees only its own sessions when its token says so', async () => {
    await server.post('/v1/sessions', { id: 's1' });
    await server.post('/v1/sessions', { id: 's2' });
    const token = await server.tokenFor('limited', 'approver', ['s1']);
    const { approval } = await server.ask();
    expect((await server.get('/v1/approvals', token)).body.items).toEqual([]);
    expect((await server.post(`/v1/approvals/${approval.id}/approve`, {}, token)).status).toBe(404);
    expect((await server.get('/v1/sessions', token)).body.items.map(({ id }: { id: string }) => id)).toEqual(['s1']);
    expect((await server.get('/v1/sessions/s2', token)).status).toBe(404);
    expect(
      (await server.post('/v1/calls', { tool: 'glob', args: { pattern: '*' }, session: 's2' }, token)).status,
    ).toBe(404);
    expect((await server.get('/v1/history', token)).status).toBe(403);
    expect((await server.fetch('/v1/events', { token })).status).toBe(403);
  });
});

describe('tools', () => {
  test('[C18] [C20] all built-in ones are listed, on, with category, status and source', async () => {
    const { body } = await server.get('/v1/tools');
    expect(body.items.length).toBeGreaterThan(8);
    for (const tool of body.items) expect(tool).toMatchObject({ enabled: true, source: 'built-in' });
    const { body: detail } = await server.get('/v1/tools/read_file');
    expect(detail).toMatchObject({ name: 'read_file', category: 'file', inputSchema: { type: 'object' } });
  });

  test('[C19] switching one off holds for the next call and for what a model is told, is recorded, and outlives a restart', async () => {
    const off = await server.send('PATCH', '/v1/tools/grep', { enabled: false });
    expect(off.body).toMatchObject({ name: 'grep', enabled: false });
    const called = async () => (await server.post('/v1/calls', { tool: 'grep', args: { pattern: 'one' } })).body;
    const offered = async () =>
      JSON.stringify((await server.get('/v1/schemas?format=anthropic')).body).includes('"grep"');
    expect(await called()).toMatchObject({ state: 'failed', outcome: { error: { code: 'TOOL_DISABLED' } } });
    expect(await offered()).toBe(false);
    await server.stop();
    await server.start();
    expect(await called()).toMatchObject({ outcome: { error: { code: 'TOOL_DISABLED' } } });
    await server.send('PATCH', '/v1/tools/grep', { enabled: true });
    expect([await called(), await offered()]).toMatchObject([{ state: 'succeeded' }, true]);
    const events = await server.host.ledger.events('@system');
    expect(events.map(({ data }) => data)).toMatchObject([
      { tool: 'grep', enabled: false, by: 'owner' },
      { tool: 'grep', enabled: true, by: 'owner' },
    ]);
  });

  test('[B67] ten clients switch different tools at once, and each of them gets what it asked for', async () => {
    const { body } = await server.get('/v1/tools');
    const names = body.items.slice(0, 10).map(({ name }: { name: string }) => name);
    for (const enabled of [false, true, false]) {
      await Promise.all(names.map((name: string) => server.send('PATCH', `/v1/tools/${name}`, { enabled })));
      const { body: now } = await server.get('/v1/tools');
      expect(
        now.items
          .filter(({ name }: { name: string }) => names.includes(name))
          .map((tool: { enabled: boolean }) => tool.enabled),
      ).toEqual(names.map(() => enabled));
    }
  });

  test('[B68] ten clients call at once: those that touch one file are ordered, all are recorded', async () => {
    const { body: rule } = await server.post('/v1/rules', { rule: 'edit_file', verdict: 'allow' });
    expect(rule).toMatchObject({ rule: 'edit_file', verdict: 'allow', by: 'owner' });
    writeFileSync(join(server.workspace, 'n.txt'), 'a0b0c0d0e0f0g0h0i0j0');
    const calls = await Promise.all(
      [...'abcdefghij'].map((letter) =>
        server.post('/v1/calls', {
          tool: 'edit_file',
          args: { path: 'n.txt', edits: [{ old: `${letter}0`, new: `${letter}1` }] },
        }),
      ),
    );
    expect(calls.map(({ body }) => body.state)).toEqual(Array(10).fill('succeeded'));
    expect(readFileSync(join(server.workspace, 'n.txt'), 'utf8')).toBe('a1b1c1d1e1f1g1h1i1j1');
    expect((await server.get('/v1/history?tool=edit_file')).body.items).toHaveLength(10);
  });

  test('a caller who waits for a call gets the recorded result', async () => {
    const agent = await server.tokenFor('bot', 'agent');
    const attempts = [
      { tool: 'list_directory', args: {}, key: 'one' },
      { tool: 'list_directory', args: {}, key: 'one' },
      { tool: 'read_file', args: { path: 'nothing.txt' } },
      { tool: 'read_file', args: { path: 7 } },
      { tool: 'list_directory', args: { path: '.' }, dryRun: true },
    ];
    for (const attempt of attempts) {
      const { body } = await server.post('/v1/calls', attempt, agent);
      const { view: _, ...recorded } = (await server.get(`/v1/calls/${body.id}`, agent)).body;
      expect(body).toEqual(recorded);
    }
  });
});

test('a request that is repeated under its key while its call waits leads to that call, at once', async () => {
  const request = { tool: 'write_file', args: { path: 'a.txt', content: 'x' }, key: 'again', wait: false };
  const first = await server.post('/v1/calls', request);
  const second = await server.post('/v1/calls', request);
  expect(first.status).toBe(202);
  expect(second).toMatchObject({ status: 202, body: { id: first.body.id } });
  const other = await server.post('/v1/calls', { ...request, args: { path: 'b.txt', content: 'x' } });
  expect(other).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  await server.post(`/v1/calls/${first.body.id}/cancel`);
  expect(await server.ended(first.body.id)).toMatchObject({ state: 'cancelled' });
});

test.each([
  ['GET', '/v1/tools?category=nope', undefined, 'expected one of'],
  ['GET', '/v1/history?sesion=s1', undefined, 'sesion'],
  ['GET', '/v1/history?session=s1&session=s2', undefined, 'session is repeated'],
  ['GET', '/v1/health?verbose=1', undefined, 'verbose'],
  ['POST', '/v1/calls?wait=false', { tool: 'glob', args: { pattern: '*' } }, 'wait'],
  ['GET', '/v1/history?after=zzz', undefined, 'as it came'],
  ['GET', '/v1/sessions?after=zzz', undefined, 'as it came'],
  ['POST', '/v1/approvals/none/review', {}, 'send modifiedArgs'],
  ['PUT', '/v1/files/content?path=new.txt', { content: '!!no base64', encoding: 'base64' }, 'no base64'],
])('%s %s with what does not fit is refused in words', async (method, path, body, words) => {
  const init = { method, headers: { 'If-None-Match': '*' }, ...(body && { body: JSON.stringify(body) }) };
  const response = await server.fetch(path, init);
  expect(response.status).toBe(400);
  expect(((await response.json()) as Json).detail).toContain(words);
});

test('[E20] the codes of calls come through this door as they are', async () => {
  const call = async (tool: string, args: object, more = {}) =>
    (await server.post('/v1/calls', { tool, args, ...more })).body.outcome.error.code;
  expect(await call('read_file', { path: '../x' })).toBe('INVALID_PATH');
  expect(await call('read_file', { path: 'nothing.txt' })).toBe('FILE_NOT_FOUND');
  writeFileSync(join(server.workspace, '.env'), 'SECRET=1');
  expect(await call('read_file', { path: '.env' })).toBe('PERMISSION_DENIED');
  expect(await call('read_file', {})).toBe('INVALID_INPUT');
  expect(await call('nobody', {})).toBe('UNKNOWN_TOOL');
  await server.post('/v1/rules', { rule: 'bash(sleep *)', verdict: 'allow' });
  expect(await call('bash', { command: 'sleep 20' }, { timeout: 1 })).toBe('TIMEOUT');
  const broken = defineTool({
    name: 'broken',
    description: 'Throws.',
    input: z.object({}),
    access: () => [],
    run() {
      throw new Error('it broke');
    },
  });
  await using other = await TestServer.start({ tools: [broken] });
  const { body } = await other.post('/v1/calls', { tool: 'broken', args: {} });
  expect(body.outcome.error.code).toBe('EXECUTION_ERROR');
});

describe('rules', () => {
  test('one that is saved holds at once, is listed with who saved it, and can be taken back', async () => {
    const args = { path: 'a.txt', content: 'two\n' };
    const explain = async () => (await server.post('/v1/explain', { tool: 'write_file', args })).body;
    expect(await explain()).toMatchObject({ verdict: 'ask', summary: expect.stringContaining('a.txt') });
    const { body: saved, status } = await server.post('/v1/rules', { rule: ' write_file\n', verdict: 'allow' });
    expect(status).toBe(201);
    expect(saved).toMatchObject({ rule: 'write_file', workspace: null });
    expect((await server.get('/v1/rules')).body.items).toEqual([saved]);
    expect(await explain()).toMatchObject({ verdict: 'allow' });
    expect((await server.send('DELETE', `/v1/rules/${saved.id}`)).status).toBe(204);
    expect(await explain()).toMatchObject({ verdict: 'ask' });
    expect((await server.send('DELETE', `/v1/rules/${saved.id}`)).status).toBe(404);
    expect((await server.post('/v1/rules', { rule: 'wirte_file', verdict: 'allow' })).status).toBe(400);
  });
});

describe('files', () => {
  test('are listed, read with their version and saved only over what was read', async () => {
    const { body: tree } = await server.get('/v1/files');
    expect(tree.entries.map(({ name }: { name: string }) => name)).toEqual(['a.txt']);
    const read = await server.fetch('/v1/files/content?path=a.txt');
    const etag = read.headers.get('etag') ?? '';
    expect(await read.json()).toMatchObject({ content: 'one\n', version: etag.slice(1, -1) });
    const again = await server.fetch('/v1/files/content?path=a.txt', { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    const save = (match: Record<string, string>, path = 'a.txt') =>
      server.fetch(`/v1/files/content?path=${path}`, {
        method: 'PUT',
        headers: match,
        body: JSON.stringify({ content: 'mine\n' }),
      });
    expect((await save({})).status).toBe(412);
    expect((await save({ 'If-Match': '"other"' })).status).toBe(412);
    const saved = await save({ 'If-Match': etag });
    expect(saved.status).toBe(200);
    const { callId } = (await saved.json()) as Json;
    expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe('mine\n');
    expect((await save({ 'If-Match': etag })).status).toBe(412);
    expect((await save({ 'If-None-Match': '*' }, 'new.txt')).status).toBe(200);
    expect((await save({ 'If-None-Match': '*' }, '../new.txt')).status).toBe(400);
    expect((await server.post(`/v1/calls/${callId}/undo`)).status).toBe(200);
    expect(readFileSync(join(server.workspace, 'a.txt'), 'utf8')).toBe('one\n');
  });
});

describe('sessions', () => {
  test('the one of a token that names none is of the workspace that is open, and explaining opens none', async () => {
    const read = { tool: 'read_file', args: { path: 'a.txt' } };
    const known = async () => (await server.get('/v1/sessions')).body.items.map(({ id }: { id: string }) => id);
    expect((await server.post('/v1/explain', read)).body.verdict).toBe('allow');
    expect(await known()).toEqual([]);
    expect((await server.post('/v1/calls', read)).body).toMatchObject({ session: 'api-owner', state: 'succeeded' });
    const second = join(server.home, 'second');
    mkdirSync(second);
    writeFileSync(join(second, 'a.txt'), 'of the second\n');
    await server.stop();
    server.with({ workspaces: [second] });
    await server.start();
    expect((await server.post('/v1/explain', read)).body.verdict).toBe('allow');
    expect(await known()).toEqual(['api-owner']);
    const { id } = (await server.get('/v1/health')).body.workspaces[0];
    for (let times = 0; times < 2; times++) {
      const { body } = await server.post('/v1/calls', read);
      expect(body).toMatchObject({ session: `api-owner-${id}`, outcome: { text: expect.stringContaining('second') } });
    }
    const opened = (await server.host.ledger.log(0, 100)).filter(({ type }) => type === 'session.created');
    expect(opened.map(({ session }) => session)).toEqual(['api-owner', `api-owner-${id}`]);
  });

  test('are opened in a workspace; without a model a message is answered with words', async () => {
    const { body: opened, status } = await server.post('/v1/sessions', { title: 'Try it' });
    expect(status).toBe(201);
    expect(opened).toMatchObject({ title: 'Try it', workspace: [...server.host.workspaces.keys()][0], running: false });
    const sent = await server.post(`/v1/sessions/${opened.id}/messages`, { text: 'hello' });
    expect(sent).toMatchObject({
      status: 501,
      body: { code: 'NOT_CONFIGURED', detail: expect.stringContaining('No model') },
    });
    await server.post('/v1/calls', { tool: 'read_file', args: { path: 'a.txt' }, session: opened.id });
    const { body: events } = await server.get(`/v1/sessions/${opened.id}/events`);
    expect(events.items.map(({ type }: { type: string }) => type)).toEqual([
      'session.created',
      'call.requested',
      'call.started',
      'call.finished',
    ]);
    for (const event of events.items) recordedEvent.parse(event);
  });
});

test('a file in one workspace is not in another, and neither are its calls', async () => {
  const { mkdirSync } = await import('node:fs');
  await using both = new TestServer();
  const other = join(both.home, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'b.txt'), 'two\n');
  await both.start();
  await both.stop();
  await using second = await TestServer.start({ workspaces: [both.workspace, other] });
  const [first = '', last = ''] = [...second.host.workspaces.keys()];
  for (const [id, workspace] of [
    ['s1', first],
    ['s2', last],
  ])
    await second.post('/v1/sessions', { id, workspace });
  const read = async (session: string, path: string) =>
    (await second.post('/v1/calls', { tool: 'read_file', args: { path }, session })).body.state;
  expect(await read('s1', 'a.txt')).toBe('succeeded');
  expect(await read('s2', 'a.txt')).toBe('failed');
  expect(await read('s2', 'b.txt')).toBe('succeeded');
  expect(await read('s1', join(other, 'b.txt'))).toBe('failed');
  await both.start();
});

test('a token that is limited to sessions reaches their workspace, no other, and nothing that holds for all', async () => {
  const elsewhere = join(server.home, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'secret.txt'), 'CANARY');
  await using two = await TestServer.start({ workspaces: [server.workspace, elsewhere] });
  const [here, there] = (await two.get('/v1/health')).body.workspaces as { id: string }[];
  await two.post('/v1/sessions', { id: 'theirs', workspace: here?.id });
  const token = await two.tokenFor('ann', 'admin', ['theirs']);
  expect((await two.get('/v1/files/content?path=a.txt', token)).status).toBe(200);
  expect((await two.get(`/v1/files/content?path=secret.txt&workspace=${there?.id}`, token)).status).toBe(404);
  expect((await two.send('PATCH', '/v1/tools/bash', { enabled: false }, token)).status).toBe(403);
  expect((await two.send('POST', '/v1/token/rotate', {}, token)).status).toBe(403);
});

describe('a long list', () => {
  test('is read a bounded part at a time', async () => {
    const { ledger } = server.host;
    const limits: (number | undefined)[] = [];
    const [events, approvals] = [ledger.events.bind(ledger), ledger.approvals.bind(ledger)];
    await server.post('/v1/sessions', { id: 's1' });
    for (let count = 0; count < 130; count++) {
      const call = requestedCall({ session: 's1' });
      await ledger.submit(call);
      await ledger.move(...asked(call, `approval-${count}`));
    }
    for (let count = 0; count < 200; count++) await ledger.note('s1', message(`m${count}`));
    ledger.events = (session, after, limit) => {
      limits.push(limit);
      return events(session, after, limit);
    };
    ledger.approvals = (query) => {
      limits.push(query.limit);
      return approvals(query);
    };
    expect((await server.get('/v1/health')).body.pendingApprovals).toBe(130);
    const { items } = (await server.get('/v1/sessions/s1/messages')).body;
    expect(items.map(({ id }: Json) => id)).toEqual(Array.from({ length: 200 }, (_, count) => `m${count}`));
    expect(limits.length).toBeGreaterThan(4);
    for (const limit of limits) expect(limit).toBeLessThanOrEqual(200);
  });
});

function message(messageId: string) {
  return { type: 'message.added', callId: null, at: 1, data: { messageId, role: 'notice', text: 'x' } } as const;
}
