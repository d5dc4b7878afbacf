import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import type { ApprovalResponse, Store } from '../../kernel/ports.ts';
import { fail, ok } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { defineTool, type ToolContext } from '../../kernel/tool/tool.ts';
import { EchoTool } from '../../testing/sample-tools.ts';
import { createToolwright, type ToolwrightOptions } from '../create-toolwright.ts';
import { MemoryStore } from '../memory/memory-store.ts';

/** Nothing that misbehaves may end the process. */
const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);
beforeEach(() => process.on('unhandledRejection', note));
afterEach(async () => {
  await new Promise((done) => setTimeout(done, 5));
  process.off('unhandledRejection', note);
  expect(rejections.splice(0)).toEqual([]);
});

function doing(run: (input: never, ctx: ToolContext) => unknown, more: object = {}) {
  const base = { name: 'subject', description: 'Does something', input: z.object({ x: z.any().optional() }) };
  return defineTool({ ...base, access: () => [], run: run as never, ...more });
}

function subject(run: (input: never, ctx: ToolContext) => unknown, options: ToolwrightOptions = {}, more: object = {}) {
  const toolwright = createToolwright({ tools: [doing(run, more), new EchoTool()], ...options });
  const events: string[] = [];
  toolwright.executor.on(({ type }) => events.push(type));
  return { ...toolwright, events };
}

describe('cancelling', () => {
  test.each([
    ['on the next line', (abort: () => void) => abort(), {}],
    ['by a policy', () => {}, { where: 'policy' }],
    ['by a listener, as it starts', () => {}, { where: 'listener' }],
  ])('%s means that the tool does not run', async (_, afterCall, { where }: { where?: string }) => {
    const cancel = new AbortController();
    const abort = () => cancel.abort();
    let ran = false;
    const policy = {
      decide: () => (where === 'policy' && abort(), { verdict: 'allow', rule: 'r', reason: '' } as const),
    };
    const { call, executor } = subject(() => ((ran = true), ok('ran')), { policy });
    executor.on(({ type }) => where === 'listener' && type === 'call.started' && abort());
    const pending = call('subject', {}, { signal: cancel.signal });
    afterCall(abort);
    const result = await pending;
    expect(result.error).toMatchObject({ code: 'CANCELLED', details: { phase: 'not_started' } });
    expect(ran).toBe(false);
    expect(executor.getExecutions()).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('a call never rejects', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const unreadable = new Error('x');
  Object.defineProperty(unreadable, 'message', {
    get() {
      throw new Error('not even that');
    },
  });
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  test.each<[string, () => unknown, string]>([
    ['throws a revoked proxy', () => Promise.reject(revoked.proxy), 'EXECUTION_ERROR'],
    ['throws an unreadable error', () => Promise.reject(unreadable), 'EXECUTION_ERROR'],
    ['fails with issues that are none', () => fail('CONFLICT', 'no', { issues: 5 }), 'CONFLICT'],
    ['fails with suggestions that are none', () => fail('CONFLICT', 'no', { suggestions: 'x' }), 'CONFLICT'],
    ['fails with a code of its own', () => ({ ok: false, error: { code: 'WAT', message: 'no' } }), 'WAT'],
    [
      'fails with a code that is none',
      () => ({ ok: false, error: { code: 'a\nb', message: 'no' } }),
      'EXECUTION_ERROR',
    ],
    [
      'fails with an inherited name as code',
      () => ({ ok: false, error: { code: 'constructor', message: 'no' } }),
      'constructor',
    ],
    [
      'fails with a message that is none',
      () => ({ ok: false, error: { code: 'CONFLICT', message: Symbol('x') } }),
      'CONFLICT',
    ],
    ['has metadata that is no JSON', () => ok('x', circular), 'EXECUTION_ERROR'],
    ['has details that are no JSON', () => fail('CONFLICT', 'no', { n: 1n }), 'CONFLICT'],
    [
      'returns a thenable that throws',
      () => ({
        then: () => {
          throw new Error('no promise');
        },
      }),
      'EXECUTION_ERROR',
    ],
  ])('of a tool that %s', async (_, run, code) => {
    const { call, executor, events } = subject(run);
    const result = await call('subject');
    expect(result.error?.code).toBe(code);
    expect(JSON.parse(JSON.stringify(result)).error.code).toBe(code);
    expect(events.filter((type) => type === 'call.finished')).toHaveLength(1);
    expect((await executor.history()).items).toMatchObject([{ state: 'failed', tool: 'subject' }]);
  });

  test.each([undefined, null, 7, {}, Symbol('x')])('of a tool named %s', async (name) => {
    const { executor, context } = subject(() => ok('x'));
    expect((await executor.execute(name as never, context)).error?.code).toBe('UNKNOWN_TOOL');
  });

  test('with a logger that throws', async () => {
    const logger = {
      debug() {},
      info: () => {
        throw new Error('no log');
      },
      warn() {},
      error() {},
      isLevelEnabled: () => {
        throw new Error('no level');
      },
    };
    expect((await subject(() => ok('x'), { logger }).call('subject')).ok).toBe(true);
  });

  test.each<[string, object, string]>([
    [
      'a getter that throws',
      {
        get x() {
          throw new Error('no x');
        },
      },
      'The arguments cannot be read: no x',
    ],
    ['a revoked proxy inside', { x: revoked.proxy }, 'The arguments cannot be read'],
  ])('with %s among its arguments', async (_, args, message) => {
    const result = await subject(() => ok('x')).call('subject', args);
    expect(result.error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(message) });
  });

  test.each(['render', 'summary'])('of a tool whose %s is async', async (method) => {
    const result = await subject(() => ok('x'), {}, { [method]: () => Promise.reject(new Error('late')) }).call(
      'subject',
    );
    expect(result.error?.message).toContain(`its ${method} must return a string`);
  });

  test('when a listener is async and rejects', async () => {
    const { call, executor } = subject(() => ok('x'));
    executor.on(() => Promise.reject(new Error('late')));
    expect((await call('subject')).ok).toBe(true);
  });
});

describe('what was approved is what runs', () => {
  const asking = { approval: () => 'sure?' };
  const yes: ApprovalResponse = { approved: true };

  test('although the caller changes the arguments meanwhile', async () => {
    const args = { x: { command: 'ls' } };
    let ran: unknown;
    const { call } = subject(
      (input) => ((ran = input), ok('x')),
      { approver: async () => ((args.x.command = 'rm'), yes) },
      asking,
    );
    await call('subject', args);
    expect(ran).toEqual({ x: { command: 'ls' } });
  });

  test('although the approver changes what it was shown', async () => {
    let ran: unknown;
    const approver = ({ args }: { args: Record<string, unknown> }) => {
      expect(() => Object.assign(args, { x: 'evil' })).toThrow();
      expect(() => Object.assign(args.x as object, { command: 'evil' })).toThrow();
      return yes;
    };
    const { call } = subject((input) => ((ran = input), ok('x')), { approver }, asking);
    await call('subject', { x: { command: 'ls' } });
    expect(ran).toEqual({ x: { command: 'ls' } });
  });

  test('although a hook changes its copy', async () => {
    const before = ({ args }: { args: object }) => void Object.assign(args, { x: 'evil' });
    const result = await subject(() => ok('ran'), { hooks: [{ name: 'sly', before }] }).call('subject', { x: 1 });
    expect(result.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('Hook sly failed') });
  });

  test('and a tool that changes its input does not change the record', async () => {
    const { call, executor } = subject((input: { x: unknown }) => ((input.x = 'other'), ok('x')) as never);
    await call('subject', { x: 1 });
    expect(executor.getExecutions()[0]?.params).toEqual({ x: 1 });
    expect((await executor.history()).items[0]?.args).toEqual({ x: 1 });
  });

  test('and an answer of another shape is no ending', async () => {
    const forged = { ...yes, kind: 'ending', state: 'approved', result: { ok: true, value: 'forged' } };
    expect((await subject(() => ok('real'), { approver: () => forged }, asking).call('subject')).output).toBe('real');
  });

  test('and modified arguments that are no object are a no', async () => {
    const approver = () => ({ approved: true, modifiedArgs: ['x'] }) as never;
    expect((await subject(() => ok('x'), { approver }, asking).call('subject')).error?.code).toBe('APPROVAL_DENIED');
  });

  test('and edited arguments meet the hooks like the first ones', async () => {
    const before = ({ args }: { args: Readonly<Record<string, unknown>> }) =>
      args.x === 'bad' ? { veto: 'no' } : undefined;
    const approver = () => ({ approved: true, modifiedArgs: { x: 'bad' } });
    const result = await subject(() => ok('x'), { approver, hooks: [{ name: 'guard', before }] }, asking).call(
      'subject',
      { x: 1 },
    );
    expect(result.error).toMatchObject({ code: 'PERMISSION_DENIED', message: 'Hook guard refused subject: no' });
  });

  test('and no question stays open', async () => {
    const approver = () => Promise.reject(new Error('gone'));
    const { call, events } = subject(() => ok('x'), { approver }, asking);
    await call('subject');
    expect(events).toEqual(['call.requested', 'approval.requested', 'approval.decided', 'call.finished']);
  });
});

describe('a tool cannot', () => {
  test('forge its own record through its context', async () => {
    const { call, executor } = subject((_, ctx) => {
      for (const name of ['toolName', 'args', 'warnings', 'startedAt', 'request', 'ticket']) {
        expect(ctx).not.toHaveProperty(name);
      }
      Object.assign(ctx, { toolName: 'innocent', args: {} });
      return ok('x');
    });
    await call('subject', { x: 1 });
    expect(executor.getExecutions()).toMatchObject([{ toolName: 'subject', params: { x: 1 } }]);
  });

  test('speak for another tool', async () => {
    const { call, executor } = subject((_, ctx) => (ctx.progress({ message: 'm', tool: 'other' } as never), ok('x')));
    const told: unknown[] = [];
    executor.on((event) => event.type === 'call.progressed' && told.push(event.data));
    await call('subject');
    expect(told).toEqual([{ tool: 'subject', message: 'm' }]);
  });
});

describe('calls inside calls', () => {
  test('never wait for those who wait for them', async () => {
    const inner = defineTool({ name: 'inner', description: 'Inner', input: z.object({}), run: () => ok('in') });
    const outer = defineTool({
      name: 'outer',
      description: 'Outer',
      input: z.object({}),
      run: async (_, ctx) => {
        await new Promise((done) => setTimeout(done, 10));
        return ok((await executor.execute('inner', ctx)).output);
      },
    });
    const { executor, call } = createToolwright({ tools: [inner, outer], timeout: 2 });
    const results = await Promise.all([1, 2, 3].map(() => call('outer')));
    expect(results.map(({ output }) => output)).toEqual(['in', 'in', 'in']);
  });

  test('of two who want what the other holds go on', async () => {
    const write = (path: string): Access => ({ kind: 'fs.write', path });
    const inner = defineTool({
      name: 'inner',
      description: 'Inner',
      input: z.object({ path: z.string() }),
      access: ({ path }) => [write(path)],
      run: ({ path }) => ok(path),
    });
    const outer = defineTool({
      name: 'outer',
      description: 'Outer',
      input: z.object({ holds: z.string(), wants: z.string() }),
      access: ({ holds }) => [write(holds)],
      run: async ({ wants }, ctx) => {
        await new Promise((done) => setTimeout(done, 10));
        return ok((await executor.execute('inner', ctx, { path: wants })).output);
      },
    });
    const { executor, call } = createToolwright({ tools: [inner, outer], timeout: 2 });
    const both = await Promise.all([
      call('outer', { holds: 'a', wants: 'b' }),
      call('outer', { holds: 'b', wants: 'a' }),
    ]);
    expect(both.map(({ output }) => output)).toEqual(['b', 'a']);
  });

  test('end with a parent that is cancelled', async () => {
    let told = false;
    const hang = defineTool({
      name: 'hang',
      description: 'Hang',
      input: z.object({}),
      run: (_, ctx) => new Promise(() => ctx.signal.addEventListener('abort', () => (told = true))),
    });
    const outer = defineTool({
      name: 'outer',
      description: 'Outer',
      input: z.object({}),
      run: async (_, ctx) => ok((await executor.execute('hang', ctx)).text),
    });
    const { executor, call } = createToolwright({ tools: [hang, outer] });
    const cancel = new AbortController();
    const pending = call('outer', {}, { signal: cancel.signal });
    await new Promise((done) => setTimeout(done, 10));
    cancel.abort();
    expect((await pending).error?.code).toBe('CANCELLED');
    await new Promise(setImmediate);
    expect(told).toBe(true);
  });
});

describe('order', () => {
  test('sees one file behind its spellings', async () => {
    const log: string[] = [];
    const write = defineTool({
      name: 'write',
      description: 'Write',
      input: z.object({ path: z.string() }),
      access: ({ path }) => [{ kind: 'fs.write', path }],
      run: async ({ path }) => {
        log.push(`+${path}`);
        await new Promise((done) => setTimeout(done, 5));
        log.push(`-${path}`);
        return ok(path);
      },
    });
    const { call } = createToolwright({ tools: [write], workingDir: '/ws' });
    await Promise.all(['a.txt', '/ws/a.txt', 'b/../a.txt'].map((path) => call('write', { path })));
    expect(log.filter((_, at) => at % 2 === 0).map((line) => line[0])).toEqual(['+', '+', '+']);
    expect(log).toEqual(['+a.txt', '-a.txt', '+/ws/a.txt', '-/ws/a.txt', '+b/../a.txt', '-b/../a.txt']);
  });

  test('of thousands of calls that run alone costs little', async () => {
    const alone = defineTool({ name: 'alone', description: 'Alone', input: z.object({}), run: async () => ok('x') });
    const { call, executor } = createToolwright({ tools: [alone] });
    const before = process.memoryUsage().heapUsed;
    const results = await Promise.all(Array.from({ length: 5000 }, () => call('alone')));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 2 ** 20);
    expect(executor.getExecutions()).toHaveLength(500);
  });
});

describe('hooks', () => {
  test('see how every call that started ended', async () => {
    const seen: string[] = [];
    const hooks = [
      { name: 'h', after: (_: unknown, result: { ok: boolean }) => void seen.push(result.ok ? 'ok' : 'failed') },
    ];
    const { executor, context, call } = subject(
      (input: { x: string }) => {
        if (input.x === 'throw') throw new Error('x');
        return input.x === 'hang' ? new Promise(() => {}) : ok('x');
      },
      { hooks } as never,
    );
    await call('subject', { x: 'throw' });
    await executor.execute('subject', { ...context, timeout: 0.02 }, { x: 'hang' });
    await call('subject', { x: 'fine' });
    expect(seen).toEqual(['failed', 'failed', 'ok']);
  });

  test('that hang are blamed themselves', async () => {
    const hooks = [{ name: 'slow', after: () => new Promise<undefined>(() => {}) }];
    const { executor, context } = subject(() => ok('x'), { hooks });
    const result = await executor.execute('subject', { ...context, timeout: 0.02 });
    expect(result.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('Hook slow failed') });
  });

  test.each([[{}], ['yes'], [[]]])('that answer %j are blamed themselves', async (answer) => {
    const hooks = [{ name: 'odd', before: () => answer as never }];
    const result = await subject(() => ok('x'), { hooks }).call('subject');
    expect(result.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('Hook odd failed') });
  });

  test('that answer null say nothing', async () => {
    const hooks = [{ name: 'quiet', before: () => null as never, after: () => null as never }];
    expect((await subject(() => ok('x'), { hooks }).call('subject')).ok).toBe(true);
  });
});

describe('a store that fails', () => {
  /** A memory store whose `method` fails from its nth use on. */
  function failing(method: 'submit' | 'move', from: number, how: 'at once' | 'later'): Store {
    const store = new MemoryStore();
    let uses = 0;
    const original = store[method].bind(store) as (...args: unknown[]) => unknown;
    Object.assign(store, {
      [method]: (...args: unknown[]) => {
        if (++uses < from) return original(...args);
        if (how === 'later') return Promise.reject(new Error('disk full'));
        throw new Error('disk full');
      },
    });
    return store;
  }

  test.each(['at once', 'later'] as const)('when the request is recorded (%s) runs nothing', async (how) => {
    let ran = false;
    const { call, executor } = subject(() => ((ran = true), ok('x')), { store: failing('submit', 1, how) });
    const result = await call('subject');
    expect(result.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('disk full') });
    expect(ran).toBe(false);
    expect(executor.getExecutions()).toMatchObject([{ state: 'failed' }]);
  });

  test.each(['at once', 'later'] as const)('when the start is recorded (%s) runs nothing', async (how) => {
    let ran = false;
    const { call } = subject(() => ((ran = true), ok('x')), { store: failing('move', 1, how) });
    expect((await call('subject')).error?.message).toContain('disk full');
    expect(ran).toBe(false);
  });

  test.each(['at once', 'later'] as const)(
    'when the end is recorded (%s) says that nobody may rely on it',
    async (how) => {
      const { call, executor } = subject(() => ok('x'), { store: failing('move', 2, how) });
      const result = await call('subject');
      expect(result.error).toMatchObject({ code: 'INTERNAL', details: { state: 'succeeded' } });
      expect(result.error?.message).toContain('could not be recorded: disk full');
      expect(executor.getExecutions()).toMatchObject([{ state: 'failed', result: { ok: false } }]);
    },
  );

  test.each([
    ['the request', 'submit'],
    ['the start', 'move'],
  ] as const)('to record %s of a call that only looks keeps its result back', async (_, method) => {
    const { call, executor, events } = subject(
      () => new Promise((done) => setTimeout(done, 5, ok('secret'))),
      { store: failing(method, 1, 'later') },
      { effect: 'pure' },
    );
    const result = await call('subject');
    expect(result).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
    expect(result.error?.message).toContain('could not be recorded: disk full');
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(executor.getExecutions()).toMatchObject([{ state: 'failed' }]);
    expect(events).not.toContain('call.finished');
  });

  test('to record an end does not leave those waiting who repeat its key', async () => {
    const { call } = subject(() => new Promise((done) => setTimeout(done, 20, ok('x'))), {
      store: failing('move', 2, 'later'),
    });
    const both = await Promise.all([call('subject', {}, { key: 'k' }), call('subject', {}, { key: 'k' })]);
    expect(both.map(({ error }) => error?.code)).toEqual(['INTERNAL', 'INTERNAL']);
  });
});

describe('a repeated key', () => {
  test('with other arguments is refused; the order of their names makes no difference', async () => {
    const { call } = subject(() => ok('x'));
    const first = await call('Echo', { message: 'y', more: 1n }, { key: 'k' });
    expect((await call('Echo', { more: 1n, message: 'y' }, { key: 'k' })).callId).toBe(first.callId);
    expect((await call('Echo', { message: 'z' }, { key: 'k' })).error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('"k" was used before, with other arguments'),
    });
  });

  test('for another tool is refused', async () => {
    const { call } = subject(() => ok('x'));
    await call('subject', {}, { key: 'k' });
    expect((await call('Echo', { message: 'y' }, { key: 'k' })).error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('was used before, for subject'),
    });
  });

  test('can be cancelled, and leaves the first call alone', async () => {
    const { call } = subject(() => new Promise((done) => setTimeout(done, 60, ok('first'))));
    const first = call('subject', {}, { key: 'k' });
    const cancel = new AbortController();
    const second = call('subject', {}, { key: 'k', signal: cancel.signal });
    await new Promise((done) => setTimeout(done, 10));
    cancel.abort();
    expect((await second).error?.code).toBe('CANCELLED');
    expect((await first).output).toBe('first');
  });
});

describe('records', () => {
  test('carry the canonical name in the store too', async () => {
    const { call, executor, registry } = subject(() => ok('x'));
    registry.alias('other', 'subject');
    await call('other');
    expect((await executor.history({ tool: 'subject' })).items).toHaveLength(1);
    expect((await executor.history({ tool: 'other' })).items).toHaveLength(0);
  });

  test('are bounded by what they hold, not only by their number', async () => {
    const big = () => ok({ data: 'x'.repeat(2 ** 20) });
    const { call, executor } = subject(big, {}, { render: () => 'short' });
    for (let i = 0; i < 80; i++) await call('subject', { x: 'y'.repeat(2 ** 20) });
    expect(executor.getExecutions().length).toBeLessThan(40);
    expect((await executor.history({ limit: 1000 })).items.length).toBeLessThan(40);
    expect((await call('subject')).ok).toBe(true);
  });

  test('of running calls outlive the bound', async () => {
    let finish: () => void = () => {};
    const { call, executor } = subject(
      (input: { x?: string }) =>
        (input.x === 'wait' ? new Promise((done) => (finish = () => done(ok('late') as never))) : ok('x')) as never,
      { historyLimit: 3 },
    );
    const waiting = call('subject', { x: 'wait' });
    await new Promise(setImmediate);
    for (let i = 0; i < 10; i++) await call('subject');
    expect((await executor.history({ states: ['running'] })).items).toHaveLength(1);
    finish();
    expect((await waiting).output).toBe('late');
  });
});

describe('foreign schemas', () => {
  const foreign = (inputSchema: object) => ({
    name: 'foreign',
    description: 'Foreign',
    inputSchema: inputSchema as never,
    requiresApproval: false,
    execute: async (args: unknown) => ({ ok: true as const, value: args }),
  });

  test.each([
    ['at the top', { type: 'object', $async: true, properties: { a: { type: 'string' } } }],
    ['deep inside', { type: 'object', properties: { a: { $async: true, type: 'string' } } }],
  ])('that validate later (%s) are refused', (_, schema) => {
    expect(() => createToolwright({ tools: [foreign(schema)] })).toThrow(/asynchronous/);
  });

  test('of zod/mini are validated, and of Zod 3 refused', async () => {
    const { call } = createToolwright({ tools: [foreign(mini.object({ a: mini.string() }))] });
    expect((await call('foreign', { a: 1 })).error?.message).toBe('Invalid type for a: expected string');
    expect((await call('foreign', { a: 'x' })).output).toEqual({ a: 'x' });
    const { z: z3 } = await import('zod/v3');
    expect(() => createToolwright({ tools: [foreign(z3.object({ a: z3.string() }))] })).toThrow(/Zod 3: use zod 4/);
  });
});

test.each([{ historyLimit: 0 }, { historyLimit: Number.NaN }, { approvalTimeout: Number.NaN }])(
  '%j is refused',
  (options) => {
    expect(() => createToolwright(options)).toThrow(/must be/);
  },
);
