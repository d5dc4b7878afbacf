import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Json, TestServer } from './test-server.ts';

const LONG = 60_000;
const LONG_TEST = { timeout: LONG };
const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
}, LONG);
beforeEach(() => {
  writeFileSync(inWorkspace('a.txt'), 'one\n');
  writeFileSync(inWorkspace('long.txt'), `${LINES.join('\n')}\n`);
});
afterEach(async () => {
  for (const { id } of await pendingChanges()) await server.post(`/v1/changes/${id}/discard`);
}, LONG);
afterAll(() => server[Symbol.asyncDispose](), LONG);

function inWorkspace(path: string): string {
  return join(server.workspace, path);
}

function textOf(path: string): string {
  return readFileSync(inWorkspace(path), 'utf8');
}

async function pendingChanges(token?: string): Promise<Json[]> {
  return (await server.get('/v1/changes', token)).body.items;
}

/** Runs a command whose changes are asked about, and waits for the question. */
async function changing(command: string, session?: string): Promise<{ call: Json; changes: Json }> {
  const body = { tool: 'bash', args: { command }, wait: false, ...(session !== undefined && { session }) };
  const { body: call } = await server.post('/v1/calls', body);
  return { call, changes: await questionOf(call) };
}

async function questionOf({ id }: Json): Promise<Json> {
  for (let tries = 0; tries < 2000; tries++) {
    const found = (await pendingChanges()).find(({ callId, approvalId }) => callId === id && approvalId !== null);
    if (found !== undefined) return found;
    const { body } = await server.get(`/v1/calls/${id}`);
    if (body.finishedAt !== null) throw new Error(`it ended without a question: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('no question came');
}

describe('pending changes of a command', () => {
  test('are not discarded by a second person while a yes that came first is carried out', LONG_TEST, async () => {
    const { call, changes } = await changing(
      'echo two > a.txt; mkdir many; for i in $(seq 1 500); do echo $i > many/$i; done',
    );
    expect((await server.post(`/v1/approvals/${changes.approvalId}/approve`)).status).toBe(200);
    const { status } = await server.post(`/v1/changes/${changes.id}/discard`);
    expect([status, textOf('a.txt')]).toEqual([404, 'two\n']);
    expect((await server.post(`/v1/calls/${call.id}/undo`)).status).toBe(200);
  });

  test('are listed with their numbers, their paths and both texts, and nothing is in the workspace', async () => {
    const { call, changes } = await changing('echo two > a.txt; mkdir new; echo x > new/b.txt');
    expect(changes).toMatchObject({ callId: call.id, total: 3, kinds: { modified: 1, created: 2 }, isPartial: false });
    expect(changes.title).toContain('echo two > a.txt');
    const { body: page } = await server.get(`/v1/changes/${changes.id}?limit=1`);
    expect(page.items).toMatchObject([{ path: 'a.txt', kind: 'modified', class: 'ordinary' }]);
    const { body: rest } = await server.get(`/v1/changes/${changes.id}?after=${page.next}`);
    expect(rest.items.map(({ path }: Json) => path)).toEqual(['new', 'new/b.txt']);
    expect(rest.next).toBeNull();
    const side = async (path: string, which: string) =>
      (await server.get(`/v1/changes/${changes.id}/file?path=${path}&side=${which}`)).body;
    expect(await side('a.txt', 'before')).toMatchObject({ text: 'one\n', hidden: false });
    expect(await side('a.txt', 'after')).toMatchObject({ text: 'two\n', hidden: false });
    expect(await side('new/b.txt', 'before')).toMatchObject({ text: null });
    expect(await side('long.txt', 'before')).toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect([textOf('a.txt'), existsSync(inWorkspace('new'))]).toEqual(['one\n', false]);
    const { body: question } = await server.get(`/v1/approvals/${changes.approvalId}`);
    expect(question.preview).toMatchObject([
      {
        kind: 'changes',
        total: 3,
        truncated: false,
        items: [{ path: 'a.txt', added: 1, removed: 1 }, { path: 'new' }],
      },
    ]);
  });

  test('are kept as a whole: the record names who, and the undo of the command takes them back', async () => {
    const { call, changes } = await changing('echo two > a.txt; echo x > b.txt');
    const kept = await server.post(`/v1/changes/${changes.id}/keep`);
    expect(kept).toMatchObject({
      status: 200,
      body: {
        ...{ state: 'kept', created: ['b.txt'], modified: ['a.txt'], deleted: [], total: 2, reason: null },
        counts: { created: 1, modified: 1, deleted: 0, repository: 0 },
      },
    });
    expect((await server.ended(call.id)).outcome.value).toMatchObject({ exitCode: 0, changed: { state: 'kept' } });
    const { body: question } = await server.get(`/v1/approvals/${changes.approvalId}`);
    expect(question).toMatchObject({ state: 'approved', decidedBy: 'owner' });
    expect((await server.post(`/v1/calls/${call.id}/undo`)).status).toBe(200);
    expect([textOf('a.txt'), existsSync(inWorkspace('b.txt'))]).toEqual(['one\n', false]);
    expect((await server.post(`/v1/changes/${changes.id}/keep`)).status).toBe(404);
  });

  test('are kept in part: some paths, some hunks, an edited text', async () => {
    const edits = "sed -i 's/^line 2$/second/; s/^line 28$/last/' long.txt";
    const { call, changes } = await changing(`${edits}; echo two > a.txt; echo x > b.txt; echo y > c.txt`);
    const part = { paths: ['long.txt', 'b.txt'], hunks: { 'long.txt': [2] }, texts: { 'b.txt': 'edited\n' } };
    const kept = await server.post(`/v1/changes/${changes.id}/keep`, part);
    expect(kept).toMatchObject({ status: 200, body: { state: 'partly kept', total: 2 } });
    expect(kept.body.reason).toContain('a.txt');
    expect(textOf('long.txt')).toBe(`${LINES.join('\n').replace('line 28', 'last')}\n`);
    expect([textOf('a.txt'), textOf('b.txt'), existsSync(inWorkspace('c.txt'))]).toEqual(['one\n', 'edited\n', false]);
    expect((await server.ended(call.id)).outcome.value.changed.state).toBe('partly kept');
  });

  test('an odd name is listed exactly and as people read it, and chosen by the exact path', async () => {
    const [odd, other] = ['a\nb\u202e.txt', 'a b\u202e.txt'];
    for (const name of [odd, other]) writeFileSync(inWorkspace(name), 'one\n');
    const { changes } = await changing('for f in a*b*; do echo two > "$f"; done');
    const { body: page } = await server.get(`/v1/changes/${changes.id}`);
    expect(page.items.map(({ path, shown }: Json) => [path, shown])).toEqual([
      [odd, 'a\\nb\\u202e.txt'],
      [other, 'a b\\u202e.txt'],
    ]);
    const file = await server.get(`/v1/changes/${changes.id}/file?path=${encodeURIComponent(odd)}&side=after`);
    expect(file.body).toMatchObject({ path: odd, text: 'two\n' });
    const kept = await server.post(`/v1/changes/${changes.id}/keep`, { paths: [odd] });
    expect(kept.body).toMatchObject({ state: 'partly kept', modified: [odd] });
    expect([textOf(odd), textOf(other)]).toEqual(['two\n', 'one\n']);
  });

  test('are discarded with words for the model', async () => {
    const { call, changes } = await changing('echo two > a.txt');
    const discarded = await server.post(`/v1/changes/${changes.id}/discard`, { message: 'Use write_file.' });
    expect(discarded).toMatchObject({ status: 200, body: { state: 'discarded', total: 0 } });
    const { outcome } = await server.ended(call.id);
    expect(outcome.value.changed).toMatchObject({
      ...{ state: 'discarded', modified: ['a.txt'] },
      notKept: [{ path: 'a.txt', text: expect.stringContaining('+two') }],
    });
    expect(outcome.text).toContain('Use write_file.');
    expect([textOf('a.txt'), await pendingChanges()]).toEqual(['one\n', []]);
  });

  test('a path that is not among them is refused, and the question stays open', async () => {
    const { changes } = await changing('echo two > a.txt');
    const refused = await server.post(`/v1/changes/${changes.id}/keep`, { paths: ['nowhere.txt'] });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(refused.body.detail).toContain('nowhere.txt');
    expect((await server.post(`/v1/changes/${changes.id}/keep`, { paths: [] })).status).toBe(400);
    expect(await pendingChanges()).toMatchObject([{ id: changes.id, approvalId: changes.approvalId }]);
  });

  test('a conflict is 409 and names the paths; the rest is kept later, or discarded', async () => {
    const { call, changes } = await changing('echo two > a.txt; echo x > d.txt');
    writeFileSync(inWorkspace('a.txt'), 'mine\n');
    const conflict = await server.post(`/v1/changes/${changes.id}/keep`);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(conflict.body.detail).toContain('a.txt');
    expect([textOf('a.txt'), existsSync(inWorkspace('d.txt'))]).toEqual(['mine\n', false]);
    await server.ended(call.id);
    expect(await pendingChanges()).toMatchObject([{ id: changes.id, approvalId: null }]);
    const kept = await server.post(`/v1/changes/${changes.id}/keep`, { paths: ['d.txt'] });
    expect(kept).toMatchObject({ status: 200, body: { state: 'partly kept', created: ['d.txt'] } });
    expect([textOf('a.txt'), textOf('d.txt')]).toEqual(['mine\n', 'x\n']);
    expect(await pendingChanges()).toEqual([]);
    const { items } = (await server.get('/v1/history?tool=person:keep&limit=1')).body;
    expect(items).toMatchObject([{ args: { by: 'owner', call: call.id }, state: 'succeeded' }]);
  });

  test('secrets in a changed text are hidden, and it says so', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    writeFileSync(inWorkspace('a.txt'), 'mine\n');
    const { changes } = await changing(`printf '%s%s\\n' ghp_ ${secret.slice(4)} >> a.txt`);
    const { body } = await server.get(`/v1/changes/${changes.id}/file?path=a.txt&side=after`);
    expect(body).toMatchObject({ hidden: true });
    expect(body.text).not.toContain(secret);
  });
});

describe('who may decide', () => {
  test('a viewer reads, an agent and a viewer decide nothing', async () => {
    const { changes } = await changing('echo two > a.txt');
    for (const role of ['viewer', 'agent'] as const) {
      const token = await server.tokenFor(`some-${role}`, role);
      expect(await pendingChanges(token)).toMatchObject([{ id: changes.id }]);
      for (const deed of ['keep', 'discard']) {
        const refused = await server.post(`/v1/changes/${changes.id}/${deed}`, {}, token);
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      }
    }
    expect(textOf('a.txt')).toBe('one\n');
  });

  test('the changes of a session that a token may not see are unknown to it', async () => {
    const { body: session } = await server.post('/v1/sessions', {});
    const { changes } = await changing('echo two > a.txt', session.id);
    const other = await server.tokenFor('elsewhere', 'approver', ['another']);
    expect(await pendingChanges(other)).toEqual([]);
    for (const path of ['', '/file?path=a.txt&side=after']) {
      expect((await server.get(`/v1/changes/${changes.id}${path}`, other)).status).toBe(404);
    }
    for (const deed of ['keep', 'discard']) {
      expect((await server.post(`/v1/changes/${changes.id}/${deed}`, {}, other)).status).toBe(404);
    }
    const own = await server.tokenFor('inside', 'approver', [session.id]);
    expect((await server.post(`/v1/changes/${changes.id}/keep`, {}, own)).status).toBe(200);
    const { body: question } = await server.get(`/v1/approvals/${changes.approvalId}`);
    expect(question.decidedBy).toBe('inside');
  });
});

describe('a session that collects its changes', () => {
  async function session(id: string): Promise<string> {
    await server.post('/v1/sessions', { id });
    return id;
  }
  const run = (id: string, command: string) =>
    server.post('/v1/calls', { tool: 'bash', args: { command }, session: id });
  const collectedBy = async (id: string) => (await pendingChanges()).find((each) => each.session === id);

  test('is asked nothing, lists all it changed, and goes on after a part was kept', LONG_TEST, async () => {
    const id = await session('collects');
    const began = await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true });
    expect(began).toMatchObject({ status: 200, body: { collects: true, changes: null } });
    expect((await server.get(`/v1/sessions/${id}`)).body.collects).toBe(true);
    expect((await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true })).status).toBe(409);
    const ran = await run(id, 'echo two >> a.txt; echo b > n1.txt');
    expect(ran.body.outcome.value.changed).toMatchObject({ state: 'collected' });
    await server.post('/v1/calls', { tool: 'write_file', args: { path: 'n2.txt', content: 'c' }, session: id });
    const changes = await collectedBy(id);
    expect(changes).toMatchObject({ collecting: true, total: 3, approvalId: null, onto: null, overtaken: null });
    expect([textOf('a.txt'), existsSync(inWorkspace('n1.txt'))]).toEqual(['one\n', false]);
    const text = await server.get(`/v1/changes/${changes?.id}/file?path=a.txt&side=after`);
    expect(text.body.text).toBe('one\ntwo\n');
    const kept = await server.post(`/v1/changes/${changes?.id}/keep`, { paths: ['a.txt'] });
    expect(kept).toMatchObject({ status: 200, body: { state: 'partly kept', modified: ['a.txt'] } });
    expect([textOf('a.txt'), existsSync(inWorkspace('n1.txt'))]).toEqual(['one\ntwo\n', false]);
    expect(await collectedBy(id)).toBeUndefined();
    await run(id, 'echo d > n3.txt');
    const ended = await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: false });
    expect(ended.body).toEqual({ collects: false, changes: expect.any(String) });
    expect((await pendingChanges()).map((each) => [each.id, each.collecting])).toEqual([[ended.body.changes, false]]);
    await server.post(`/v1/changes/${ended.body.changes}/discard`);
    expect(existsSync(inWorkspace('n3.txt'))).toBe(false);
  });

  test('an answer counts only for the changes that were seen', LONG_TEST, async () => {
    const id = await session('more');
    await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true });
    await run(id, 'echo m > m1.txt');
    const seen = await collectedBy(id);
    const page = await server.get(`/v1/changes/${seen?.id}?form=diffs`);
    expect(page.body).toMatchObject({ digest: seen?.digest, truncated: false, items: [{ path: 'm1.txt' }] });
    await run(id, 'echo m > m2.txt');
    const late = await server.post(`/v1/changes/${seen?.id}/keep`, { digest: seen?.digest });
    expect(late).toMatchObject({ status: 409, body: { detail: expect.stringContaining('other changes') } });
    expect(existsSync(inWorkspace('m1.txt'))).toBe(false);
    const now = await collectedBy(id);
    const kept = await server.post(`/v1/changes/${now?.id}/keep`, { digest: now?.digest });
    expect(kept.body).toMatchObject({ state: 'kept', created: ['m1.txt', 'm2.txt'] });
    await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: false });
  });

  test('what was kept of it is undone by the call that began it', LONG_TEST, async () => {
    const id = await session('undone');
    await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true });
    await run(id, 'echo two >> a.txt');
    const changes = await collectedBy(id);
    await server.post(`/v1/changes/${changes?.id}/keep`);
    expect(textOf('a.txt')).toBe('one\ntwo\n');
    expect((await server.post(`/v1/calls/${changes?.callId}/undo`)).status).toBe(200);
    expect(textOf('a.txt')).toBe('one\n');
    await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: false });
  });

  test('attempts that stand on a session: the first that is kept wins, and the other is told', LONG_TEST, async () => {
    const parent = await session('parent');
    await server.send('PUT', `/v1/sessions/${parent}/collecting`, { collect: true });
    await run(parent, 'echo base >> a.txt');
    for (const id of ['attempt-1', 'attempt-2']) {
      await session(id);
      await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true, onto: parent });
      await run(id, `echo ${id} >> a.txt`);
    }
    const refused = await server.send('PUT', `/v1/sessions/${parent}/collecting`, { collect: false });
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('attempt-1') } });
    const ended: string[] = [];
    for (const id of ['attempt-1', 'attempt-2']) {
      ended.push((await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: false })).body.changes);
    }
    expect(await server.post(`/v1/changes/${ended[1]}/keep`)).toMatchObject({ body: { state: 'collected' } });
    const told = (await pendingChanges()).find((each) => each.id === ended[0]);
    expect(told).toMatchObject({ onto: parent, overtaken: { paths: ['a.txt'] } });
    expect((await server.post(`/v1/changes/${ended[0]}/keep`)).status).toBe(409);
    await server.post(`/v1/changes/${ended[0]}/discard`);
    const all = await collectedBy(parent);
    await server.post(`/v1/changes/${all?.id}/keep`);
    expect(textOf('a.txt')).toBe('one\nbase\nattempt-2\n');
    await server.send('PUT', `/v1/sessions/${parent}/collecting`, { collect: false });
  });

  test('is unknown where the session is, and to a viewer it may not be begun', async () => {
    expect((await server.send('PUT', '/v1/sessions/nobody/collecting', { collect: true })).status).toBe(404);
    expect((await server.send('PUT', '/v1/sessions/nobody/collecting', { collect: 'yes' })).status).toBe(400);
    const id = await session('onto-nothing');
    const onto = await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: true, onto: 'nobody' });
    expect(onto).toMatchObject({ status: 404, body: { detail: expect.stringContaining('nobody') } });
    expect((await server.send('PUT', `/v1/sessions/${id}/collecting`, { collect: false })).status).toBe(409);
  });
});
