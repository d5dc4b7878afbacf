import { expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../kernel/result.ts';
import { defineTool, type ToolFlow } from '../kernel/tool/tool.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createPolicy } from '../policy/create-policy.ts';
import { parseRules } from '../policy/rules/parse-rules.ts';
import { createToolwright } from './create-toolwright.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { SessionFlows } from './session-flows.ts';

const page = defineTool({
  name: 'page',
  description: 'Fetches a page.',
  input: z.object({ url: z.string(), method: z.enum(['GET', 'POST']).default('GET') }),
  access: ({ url, method }) => [{ kind: 'net.fetch', url, method }],
  run: () => ok('text of somebody else'),
});
const file = defineTool({
  name: 'file',
  description: 'Reads a file.',
  input: z.object({ path: z.string() }),
  access: ({ path }) => [{ kind: 'fs.read', path }],
  run: () => ok('text of the user'),
});
const flowing = (name: string, flow: ToolFlow) =>
  defineTool({
    name,
    description: 'Says what flows.',
    input: z.object({}),
    access: () => [],
    flow,
    run: () => ok(name),
  });
const mail = flowing('mail', { brings: ['private', 'untrusted'] });
const send = flowing('send', { sends: true });
const opaque = defineTool({ name: 'opaque', description: 'Hides it.', input: z.object({}), run: () => ok('done') });

/** A process with everything allowed, and the questions that it asks in mode auto. */
function start(store: MemoryStore, { session = 's', approved = true } = {}) {
  const rules = parseRules({ allow: ['page', 'file', 'mail', 'send', 'opaque'] });
  if (!rules.ok) throw new Error(rules.error.message);
  const asked: string[] = [];
  const policy = createPolicy({ mode: 'auto', rules: rules.value, files: createFilePolicy(), home: '/home/ana' });
  const approver = ({ reason }: { reason: string }) => {
    asked.push(reason);
    return { approved };
  };
  const tools = [page, file, mail, send, opaque];
  return { ...createToolwright({ tools, policy, approver, store, sessionId: session, workingDir: '/w' }), asked };
}

const GET = { url: 'https://docs.test/guide' };
const POST = { url: 'https://api.test/', method: 'POST' };

test('a call that would send is asked about once a file was read and a page came in', async () => {
  const { call, asked } = start(new MemoryStore());
  await call('page', POST);
  await call('file', { path: 'src/a.ts' });
  await call('file', { path: 'src/b.ts' });
  expect(asked).toEqual([]);
  await call('page', { url: 'https://other.test/' });
  expect(asked).toEqual([
    'It would send to other.test; the session has read src/b.ts (file), src/a.ts (file) and got text from https://api.test/ (page).',
  ]);
});

test('a note to which nobody has agreed is untrusted text from the beginning of the run', async () => {
  const store = new MemoryStore();
  const { call, asked } = start(store);
  const data = { model: 'm', scripted: true, unfamiliar: ['AGENTS.md'] };
  await store.append('s', [{ type: 'run.started', callId: null, at: 1, data }]);
  await call('page', GET);
  expect(asked).toEqual([]);
  await call('file', { path: 'src/a.ts' });
  await call('page', POST);
  expect(asked).toEqual([
    expect.stringMatching(
      /got text from https:.*, AGENTS\.md, to which nobody has agreed \(toolwright paths agree\)\.$/,
    ),
  ]);
});

test('a yes to a host holds for the session, and a no runs nothing', async () => {
  const store = new MemoryStore();
  const { call, asked } = start(store);
  await call('mail');
  for (const path of ['a', 'b', 'c'])
    expect(await call('page', { url: `https://docs.test/${path}` })).toMatchObject({ ok: true });
  expect(asked).toHaveLength(1);
  await call('page', POST);
  await call('page', POST);
  await call('page', { url: POST.url });
  expect(asked).toHaveLength(2);
  const refusing = start(store, { approved: false });
  expect(await refusing.call('page', { url: 'https://evil.test/?all' })).toMatchObject({
    error: { code: 'APPROVAL_DENIED' },
  });
  expect(await refusing.call('page', { url: 'https://evil.test/?all' })).toMatchObject({ ok: false });
  expect(refusing.asked).toHaveLength(2);
});

test('a yes without the reason of the flow agrees to nothing', async () => {
  const { call, asked } = start(new MemoryStore());
  await call('page', GET);
  await call('file', { path: 'a' });
  await call('page', GET);
  expect(asked).toHaveLength(1);
});

test('a tool that says so brings in data, and one of unknown access or that says so sends', async () => {
  const { call, asked } = start(new MemoryStore());
  await call('send');
  await call('opaque');
  await call('mail');
  await call('send');
  await call('opaque');
  expect(asked).toEqual([
    'It would send to wherever send leads; the session has read what mail returned and got text from what mail returned.',
    'It would send to wherever opaque leads; the session has read what mail returned and got text from what mail returned.',
  ]);
});

test('it holds after a restart and for calls of other processes, and not for other sessions', async () => {
  const store = new MemoryStore();
  const [one, two] = [start(store), start(store)];
  await one.call('page', GET);
  await two.call('send');
  await one.call('file', { path: 'a' });
  await two.call('send');
  expect([one.asked.length, two.asked.length]).toEqual([0, 1]);
  const restarted = start(store);
  await restarted.call('send');
  expect(restarted.asked).toEqual([]);
  await restarted.call('opaque');
  expect(restarted.asked).toHaveLength(1);
  const other = start(store, { session: 'other' });
  await other.call('send');
  expect(other.asked).toEqual([]);
});

test('a refused call brings nothing in', async () => {
  const { call, asked } = start(new MemoryStore(), { approved: false });
  await call('file', { path: '.env' });
  await call('page', GET);
  await call('send');
  expect(asked).toEqual([]);
});

test('a review shows the flow of the session', async () => {
  const { call, executor, context } = start(new MemoryStore());
  await call('mail');
  const reviewed = await executor.review('file', context, { path: 'a' });
  expect(reviewed).toMatchObject({
    value: { verdict: { verdict: 'allow' }, subject: { flow: { private: ['what mail returned'], agreed: [] } } },
  });
});

test('a log with a gap may have held anything, and many events are read in pages', async () => {
  const store = new MemoryStore({ maxCalls: 2000 });
  const { call } = start(store);
  for (let at = 0; at < 400; at++) await call('file', { path: `f${at}` });
  const flows = new SessionFlows(store);
  expect(await flows.of('s')).toEqual({
    private: ['f399 (file)', 'f398 (file)', 'f397 (file)'],
    untrusted: [],
    agreed: [],
  });
  const events = (session: string, after: number, limit: number) => store.events(session, after + 4, limit);
  expect(await new SessionFlows({ events }).of('s')).toMatchObject({ untrusted: ['what is no longer recorded'] });
});
