import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { INITIALIZE, openDoor, overHttp } from '../../../test/mcp/open-door.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../../kernel/ports.ts';
import { fail, ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { approvalForm } from './approval-form.ts';

const ran: unknown[] = [];
const stopped: string[] = [];

const add = defineTool({
  name: 'add_numbers',
  description: 'Add two numbers',
  category: ToolCategory.TASK,
  effect: 'pure',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.object({ sum: z.number(), note: z.string().nullable() }),
  access: () => [],
  run: ({ a, b }) => (a < 0 ? fail('FILE_NOT_FOUND', 'Nothing below zero.') : ok({ sum: a + b, note: null })),
  render: ({ sum }) => `The sum is ${sum}.`,
});

const write = defineTool({
  name: 'write_note',
  description: 'Write a note',
  category: ToolCategory.FILE,
  effect: 'idempotent',
  input: z.object({ path: z.string(), text: z.string(), tags: z.array(z.string()).optional() }),
  summary: ({ path }) => `Write ${path}`,
  access: ({ path }) => [{ kind: 'fs.write', path }],
  approval: () => 'Notes are precious.',
  run: (input) => {
    ran.push(input);
    return ok(`wrote ${input.path}`);
  },
});

const wait = defineTool({
  name: 'wait',
  description: 'Wait until it is stopped',
  input: z.object({ mark: z.string() }),
  access: () => [],
  run: ({ mark }, ctx) =>
    new Promise((resolve) => {
      ctx.progress({ message: 'half way', percent: 50 });
      ctx.progress({ output: 'first line\nlast line\n' });
      ctx.signal.addEventListener('abort', () => {
        stopped.push(mark);
        resolve(fail('CANCELLED', 'stopped'));
      });
    }),
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serve(options: Parameters<typeof openDoor>[0]) {
  const door = openDoor(options);
  const served = await overHttp(door.door);
  closing.push(served.close);
  return { ...door, url: served.url };
}

async function connect(url: URL, era: 'auto' | 'legacy', options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode: era }, ...options });
  await client.connect(new StreamableHTTPClientTransport(url));
  closing.push(() => client.close());
  return client;
}

const FORMS = { capabilities: { elicitation: { form: {} } } };

describe.each(['auto', 'legacy'] as const)('a client of today and of %s', (era) => {
  test('lists the tools with titles, honest hints and schemas, and calls them', async () => {
    const { url, executor } = await serve({ tools: [add, write] });
    const client = await connect(url, era);
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25');
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'add_numbers',
        title: 'Add numbers',
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
        outputSchema: { type: 'object' },
      },
      { name: 'write_note', annotations: { readOnlyHint: false, destructiveHint: true } },
    ]);
    const answer = await client.callTool({ name: 'add_numbers', arguments: { a: 2, b: 3 } });
    expect(answer).toMatchObject({
      content: [{ type: 'text', text: 'The sum is 5.' }],
      structuredContent: { sum: 5, note: null },
    });
    const [call] = (await executor.history()).items;
    expect(call).toMatchObject({ tool: 'add_numbers', agent: 'tester', state: 'succeeded' });
    expect(call?.id).toBe(answer._meta?.['toolwright/call']);
  });

  test('reads a failure as an answer with its code, and an unknown tool as an error', async () => {
    const { url } = await serve({ tools: [add] });
    const client = await connect(url, era);
    const failed = await client.callTool({ name: 'add_numbers', arguments: { a: -1 } });
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: 'Error: Nothing below zero.' }],
      _meta: { 'toolwright/error': { code: 'FILE_NOT_FOUND' } },
    });
    const invalid = await client.callTool({ name: 'add_numbers', arguments: { a: 'x' } });
    expect(invalid._meta?.['toolwright/error']).toMatchObject({ code: 'INVALID_INPUT' });
    await expect(client.callTool({ name: '__proto__', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  test('reads a command that ended with another exit code than 0 as an error, with its value', async () => {
    const check = defineTool({
      name: 'check',
      description: 'Check the project',
      input: z.object({ exitCode: z.int() }),
      output: z.object({ exitCode: z.int() }),
      access: () => [],
      run: (input) => ok(input),
      render: ({ exitCode }) => `[exit code ${exitCode}]`,
    });
    const { url } = await serve({ tools: [check] });
    const client = await connect(url, era);
    const call = (exitCode: number) => client.callTool({ name: 'check', arguments: { exitCode } });
    expect(await call(1)).toMatchObject({
      isError: true,
      content: [{ text: '[exit code 1]' }],
      structuredContent: { exitCode: 1 },
    });
    expect((await call(0)).isError).toBeUndefined();
  });

  test("a person's yes in the client's form runs the call", async () => {
    ran.length = 0;
    const { url, executor } = await serve({ tools: [write] });
    const client = await connect(url, era, FORMS);
    const seen: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      seen.push(params);
      return { action: 'accept', content: { decision: 'allow' } };
    });
    const answer = await client.callTool({ name: 'write_note', arguments: { path: 'a.txt', text: 'x\ny' } });
    expect(answer.content).toMatchObject([
      { type: 'text', text: 'wrote a.txt' },
      { type: 'resource_link', uri: 'workspace:///a.txt' },
    ]);
    expect(ran).toEqual([{ path: 'a.txt', text: 'x\ny' }]);
    expect(seen).toMatchObject([{ message: expect.stringContaining('Notes are precious.') }]);
    expect((seen[0] as { requestedSchema: { properties: object } }).requestedSchema.properties).not.toHaveProperty(
      'argument_text',
    );
    const events = (await executor.history()).items;
    expect(events).toHaveLength(1);
  });

  test('edited arguments run, and the model is told', async () => {
    ran.length = 0;
    const { url } = await serve({ tools: [write] });
    const client = await connect(url, era, FORMS);
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { decision: 'allow', argument_path: 'b.txt', argument_tags: '["edited"]' },
    }));
    const args = { path: 'a.txt', text: 'x', tags: ['given'] };
    const answer = await client.callTool({ name: 'write_note', arguments: args });
    expect(ran).toEqual([{ path: 'b.txt', text: 'x', tags: ['edited'] }]);
    expect(JSON.stringify(answer.content)).toContain('changed path, tags before it ran');
  });

  test('a form shows what runs whole, with nothing unseen and no line that passes for ours, or is not asked', async () => {
    ran.length = 0;
    const { url } = await serve({ tools: [write] });
    const client = await connect(url, era, FORMS);
    const seen: { message: string; requestedSchema: { properties: object } }[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      seen.push(params as never);
      return { action: 'accept', content: { decision: 'allow' } };
    });
    const text = 'x\npath: harmless.txt';
    await client.callTool({ name: 'write_note', arguments: { path: 'a\u202etxt.exe', text } });
    expect(seen[0]?.message).toContain('path: a\\u202etxt.exe');
    expect(seen[0]?.message).toContain('\n  | path: harmless.txt');
    expect(seen[0]?.requestedSchema.properties).not.toHaveProperty('argument_path');
    expect(ran).toEqual([{ path: 'a\u202etxt.exe', text }]);
    const long = { path: 'a.txt', text: `${'x'.repeat(20_000)}; rm -rf ~` };
    const refused = await client.callTool({ name: 'write_note', arguments: long });
    expect(JSON.stringify(refused.content)).toContain('too long for a form');
    expect([seen.length, ran.length]).toEqual([1, 1]);
  });

  test.each([
    ['a no', { action: 'accept', content: { decision: 'deny', reason: 'Use another file.' } }, 'Use another file.'],
    ['a dismissed form', { action: 'cancel' }, 'dismissed'],
    ['an empty yes', { action: 'accept', content: {} }, 'refused'],
    ['a broken edit', { action: 'accept', content: { decision: 'allow', argument_tags: '[' } }, 'not JSON'],
  ] as const)('%s runs nothing', async (_name, given, words) => {
    ran.length = 0;
    const { url } = await serve({ tools: [write] });
    const client = await connect(url, era, FORMS);
    client.setRequestHandler('elicitation/create', () => given as never);
    const args = { path: 'a.txt', text: 'x', tags: ['t'] };
    const answer = await client.callTool({ name: 'write_note', arguments: args });
    expect(answer).toMatchObject({ isError: true, _meta: { 'toolwright/error': { code: 'APPROVAL_DENIED' } } });
    expect(JSON.stringify(answer.content)).toContain(words);
    expect(ran).toEqual([]);
  });

  test('without forms and without an inbox the call is refused in words, and nothing runs', async () => {
    ran.length = 0;
    const { url } = await serve({ tools: [write] });
    const client = await connect(url, era);
    const answer = await client.callTool({ name: 'write_note', arguments: { path: 'a', text: 'x' } });
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toMatch(/Notes are precious.*Allow it with a rule/);
    expect(ran).toEqual([]);
  });

  test('without forms our own inbox is asked while the call waits and says so', async () => {
    ran.length = 0;
    const inbox = inboxThat(async () => {
      await sleep(50);
      return { approved: true, by: 'web' };
    });
    const { url } = await serve({ tools: [write], inbox });
    const client = await connect(url, era);
    const told: (string | undefined)[] = [];
    const answer = await client.callTool(
      { name: 'write_note', arguments: { path: 'a', text: 'x' } },
      { onprogress: ({ message }) => told.push(message) },
    );
    expect(answer.isError).toBeUndefined();
    expect(ran).toHaveLength(1);
    expect(told.join()).toContain('Waiting for approval: Write a');
  });

  test("the inbox's answer counts when it comes before the form's", async () => {
    ran.length = 0;
    const inbox = inboxThat(async () => ({ approved: false, message: 'not today' }));
    const { url } = await serve({ tools: [write], inbox });
    const client = await connect(url, era, FORMS);
    client.setRequestHandler('elicitation/create', async () => {
      await sleep(200);
      return { action: 'accept', content: { decision: 'allow' } };
    });
    const answer = await client.callTool({ name: 'write_note', arguments: { path: 'a', text: 'x' } });
    expect(JSON.stringify(answer.content)).toContain('not today');
    expect(ran).toEqual([]);
  });

  test("what cannot be undone is only asked in the inbox when that is set, whatever the client's form says", async () => {
    const remove = defineTool({
      name: 'remove',
      description: 'Remove a file',
      input: z.object({ path: z.string() }),
      access: ({ path }) => [{ kind: 'fs.delete', path }],
      approval: () => 'It is gone then.',
      run: ({ path }) => ok(ran.push(path)),
    });
    ran.length = 0;
    const asked: string[] = [];
    const inbox = inboxThat(async ({ tool }) => {
      asked.push(tool);
      return { approved: false, message: 'no' };
    });
    const { url } = await serve({ tools: [remove, write], inbox, way: 'destructive-inbox' });
    const client = await connect(url, era, FORMS);
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { decision: 'allow' } }));
    expect(await client.callTool({ name: 'remove', arguments: { path: 'a' } })).toMatchObject({ isError: true });
    expect([asked, ran]).toEqual([['remove'], []]);
  });

  test('an edit in a form does not make of a call what only the inbox may answer', async () => {
    const send = defineTool({
      name: 'send',
      description: 'Send something',
      input: z.object({ method: z.enum(['GET', 'POST']), to: z.string() }),
      access: ({ method, to }) => [{ kind: 'net.fetch', url: `http://${to}/`, method }],
      approval: () => 'It leaves the house.',
      run: (input) => ok(ran.push(input)),
    });
    ran.length = 0;
    const inbox = inboxThat(() => new Promise(() => {}));
    const { url } = await serve({ tools: [send], inbox, way: 'destructive-inbox' });
    const client = await connect(url, era, FORMS);
    let content: Record<string, string> = {};
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content }));
    const call = () => client.callTool({ name: 'send', arguments: { method: 'GET', to: 'example.org' } });
    content = { decision: 'allow', argument_method: 'POST' };
    const refused = await call();
    expect(refused).toMatchObject({ isError: true, _meta: { 'toolwright/error': { code: 'APPROVAL_DENIED' } } });
    expect(JSON.stringify(refused.content)).toContain('cannot be undone');
    content = { decision: 'allow', argument_method: 'DANCE' };
    expect(await call()).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
    content = { decision: 'allow', argument_to: 'example.com' };
    expect((await call()).isError).toBeUndefined();
    expect(ran).toEqual([{ method: 'GET', to: 'example.com' }]);
  });

  test('tells progress with the last line of output, and a cancelled call is stopped', async () => {
    stopped.length = 0;
    const { url, executor } = await serve({ tools: [wait] });
    const client = await connect(url, era);
    const told: { progress: number; message?: string | undefined }[] = [];
    const abort = new AbortController();
    const call = client.callTool(
      { name: 'wait', arguments: { mark: era } },
      {
        signal: abort.signal,
        onprogress: (update) => {
          told.push(update);
          if (update.message === 'last line') abort.abort();
        },
      },
    );
    await expect(call).rejects.toThrow();
    await until(() => stopped.length > 0);
    expect(stopped).toEqual([era]);
    expect(told.map(({ message }) => message)).toEqual(['half way', 'last line']);
    expect(told[1]?.progress).toBeGreaterThan(told[0]?.progress ?? 0);
    await until(async () => (await executor.history()).items[0]?.state === 'interrupted');
  });

  test('hears of tools that are switched off, and no longer finds them', async () => {
    const { url, registry } = await serve({ tools: [add, wait] });
    let changed = 0;
    const client = await connect(url, era, {
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changed++ } },
    });
    await sleep(100);
    registry.disable('wait');
    await until(() => changed > 0);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add_numbers']);
    const answer = await client.callTool({ name: 'wait', arguments: { mark: 'off' } });
    expect(answer._meta?.['toolwright/error']).toMatchObject({ code: 'TOOL_DISABLED' });
  });
});

test('the name of an argument stands on one line of a form, with nothing unseen', () => {
  const args = { 'sql\r\n\tlimit': '10', '\u202esql': 'x' };
  const request = { id: '1', tool: 'query', summary: 'q', reason: 'asks', args } as unknown as ApprovalRequest;
  const { message, requestedSchema } = approvalForm(request);
  const names = ['sql\\u000d limit', '\\u202esql'];
  expect(message.split('\n').slice(2)).toEqual([`${names[0]}: 10`, `${names[1]}: x`]);
  const titles = Object.values(requestedSchema.properties).map(({ title }) => title);
  expect(titles).toEqual(['Decision', ...names, 'Reason']);
});

describe('a client of the older library', () => {
  test('calls tools, and its form with edited arguments counts', async () => {
    ran.length = 0;
    const { url } = await serve({ tools: [add, write] });
    const client = new OldClient({ name: 'old', version: '1' }, { capabilities: { elicitation: {} } });
    await client.connect(new OldTransport(url) as never);
    closing.push(() => client.close());
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { decision: 'allow', argument_path: 'edited.txt' },
    }));
    expect((await client.listTools()).tools).toHaveLength(2);
    const sum = await client.callTool({ name: 'add_numbers', arguments: { a: 1 } });
    expect(sum['structuredContent']).toEqual({ sum: 2, note: null });
    await client.callTool({ name: 'write_note', arguments: { path: 'a', text: 'x' } });
    expect(ran).toEqual([{ path: 'edited.txt', text: 'x' }]);
    const failed = await client.callTool({ name: 'add_numbers', arguments: { a: -1 } });
    expect(failed['isError']).toBe(true);
  });
});

test('a session whose call waits for a person is not idle', async () => {
  ran.length = 0;
  let answer = (_: ApprovalResponse) => {};
  const inbox = inboxThat(() => new Promise((resolve) => (answer = resolve)));
  const { door } = openDoor({ tools: [add, write], inbox });
  const served = await overHttp(door, undefined, { idleMs: 50 });
  closing.push(served.close);
  const waiting = await connect(served.url, 'legacy');
  const idle = await connect(served.url, 'legacy');
  const call = waiting.callTool({ name: 'write_note', arguments: { path: 'a', text: 'x' } });
  await sleep(200);
  const next = await connect(served.url, 'legacy');
  await expect(idle.listTools()).rejects.toThrow('Unknown session');
  answer({ approved: true, by: 'web' });
  expect((await call).isError).toBeUndefined();
  expect(ran).toHaveLength(1);
  expect((await next.listTools()).tools).toHaveLength(2);
});

test('who opens session after session and ends none pushes out its own idle ones, and nobody else', async () => {
  let asked = 0;
  const inbox = inboxThat(() => {
    asked++;
    return new Promise(() => {});
  });
  const { door } = openDoor({ tools: [write], inbox });
  const who = ({ headers }: Request) => ({ id: headers.get('authorization') ?? '', mayApprove: true });
  const served = await overHttp(door, who);
  closing.push(served.close);
  const accept = 'application/json, text/event-stream';
  const send = (name: string, body: unknown, session = '') =>
    fetch(served.url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept,
        authorization: name,
        ...(session !== '' && { 'mcp-session-id': session }),
      },
    });
  const open = async (name: string) => {
    const opened = await send(name, INITIALIZE);
    await opened.text();
    return opened.headers.get('mcp-session-id') ?? '';
  };
  const isThere = async (name: string, session: string) => {
    const answer = await send(name, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, session);
    await answer.text();
    return answer.status === 200;
  };
  const other = await open('other');
  const busy = await open('many');
  const params = { name: 'write_note', arguments: { path: 'a', text: 'x' } };
  void send('many', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, busy).catch(() => {});
  await until(() => asked === 1);
  const [oldest, next] = [await open('many'), await open('many')];
  await Promise.all(Array.from({ length: 197 }, () => open('many')));
  const newest = await open('many');
  expect(await isThere('many', oldest)).toBe(false);
  expect(await isThere('many', next)).toBe(true);
  expect(await isThere('many', newest)).toBe(true);
  expect(await isThere('many', busy)).toBe(true);
  expect(await isThere('other', other)).toBe(true);
});

function inboxThat(answer: (request: ApprovalRequest) => Promise<ApprovalResponse>): Approver {
  return { ask: (request) => answer(request) };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it did not come');
    await sleep(20);
  }
}
