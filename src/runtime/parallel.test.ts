import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Access } from '../kernel/tool/access.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { createToolwright, type ToolwrightOptions } from './create-toolwright.ts';

/** A tool that notes when it starts and ends, and holds on for a moment in between. */
function subject(options: ToolwrightOptions = {}) {
  const log: string[] = [];
  const note = defineTool({
    name: 'note',
    description: 'Note start and end',
    input: z.object({ id: z.string(), access: z.array(z.record(z.string(), z.unknown())), ms: z.number().default(15) }),
    access: ({ access }) => access as unknown as Access[],
    approval: ({ id }) => (id.endsWith('?') ? 'sure?' : undefined),
    async run({ id, ms }) {
      log.push(`${id}+`);
      await new Promise((done) => setTimeout(done, ms));
      log.push(`${id}-`);
      return ok(id);
    },
  });
  const toolwright = createToolwright({ tools: [note], ...options });
  const noting = (id: string, ...access: Access[]) => ({ tool: 'note', args: { id, access } });
  return { log, noting, ...toolwright };
}

const read = (path: string): Access => ({ kind: 'fs.read', path });
const write = (path: string): Access => ({ kind: 'fs.write', path });
const command = (writes: 'nothing' | 'workspace' | 'background'): Access => ({
  kind: 'process.run',
  command: 'x',
  writes,
});

describe('calls at the same time', () => {
  test.each<[string, Access, Access]>([
    ['two writes of one file', write('a.txt'), write('./a.txt')],
    ['a write and a read of one file', write('src/a.txt'), read('src/a.txt')],
    ['a delete of a folder and a read inside', { kind: 'fs.delete', path: 'src', recursive: true }, read('src/a.txt')],
    ['a write and a listing of its folder', write('src/a.txt'), read('src')],
    ['a write and a command that may write', write('a.txt'), command('workspace')],
    ['two commands that may write', command('workspace'), command('workspace')],
    ['anything and the unknown', read('a.txt'), { kind: 'unknown' }],
  ])('%s run one after the other', async (_, first, second) => {
    const { log, noting, executor, context } = subject();
    await executor.executeMany([noting('1', first), noting('2', second)], context);
    expect(log).toEqual(['1+', '1-', '2+', '2-']);
  });

  test.each<[string, Access, Access]>([
    ['two reads of one file', read('a.txt'), read('a.txt')],
    ['writes of two files', write('a.txt'), write('b.txt')],
    ['files whose names begin alike', write('src'), write('src2/a')],
    ['two read-only commands', command('nothing'), command('nothing')],
    ['a background command and a write', command('background'), write('a.txt')],
    [
      'two fetches',
      { kind: 'net.fetch', url: 'http://x', method: 'GET' },
      { kind: 'net.fetch', url: 'http://x', method: 'POST' },
    ],
  ])('%s run together', async (_, first, second) => {
    const { log, noting, executor, context } = subject();
    await executor.executeMany([noting('1', first), noting('2', second)], context);
    expect(log.slice(0, 2)).toEqual(['1+', '2+']);
  });

  test('results come in the order asked, whatever the order they end in', async () => {
    const { executor, context } = subject();
    const calls = [30, 1, 15].map((ms, index) => ({ tool: 'note', args: { id: `${index}`, access: [], ms } }));
    const results = await executor.executeMany([...calls, { tool: 'nope' }], context);
    expect(results.map(({ output }) => output)).toEqual(['0', '1', '2', null]);
    expect(results[3]?.error?.code).toBe('UNKNOWN_TOOL');
  });

  test('[B68] calls that touch one file are ordered, also when they are asked for one by one', async () => {
    const { log, noting, call } = subject();
    const calls = [noting('1', write('a')), noting('2', write('a')), noting('3', write('b'))];
    await Promise.all(calls.map(({ tool, args }) => call(tool, args)));
    expect(log.indexOf('1-')).toBeLessThan(log.indexOf('2+'));
    expect(log.indexOf('3+')).toBeLessThan(log.indexOf('1-'));
  });

  test('in a batch, a later call waits for an earlier one that a person still thinks about', async () => {
    let answer: (yes: { approved: boolean }) => void = () => {};
    const ask = () => new Promise<{ approved: boolean }>((resolve) => (answer = resolve));
    const { log, noting, executor, context, call } = subject({ approver: ask });
    const batch = executor.executeMany(
      [noting('1?', write('a')), noting('2', read('a')), noting('3', read('b'))],
      context,
    );
    await call('note', noting('other', write('a')).args);
    expect(log).toContain('3+');
    expect(log).not.toContain('2+');
    answer({ approved: true });
    await batch;
    expect(log.indexOf('1?-')).toBeLessThan(log.indexOf('2+'));
  });

  test('a call refused in a batch holds nobody up', async () => {
    const { noting, executor, context } = subject();
    const calls = [
      { tool: 'note', args: { id: 1 } },
      noting('2', write('a')),
      { tool: 'none' },
      noting('4', write('a')),
    ];
    const results = await executor.executeMany(calls, context);
    expect(results.map(({ ok }) => ok)).toEqual([false, true, false, true]);
  });

  test('1,000 concurrent calls complete with a correct history', async () => {
    const { noting, executor, context } = subject({ historyLimit: 2000 });
    const calls = Array.from({ length: 1000 }, (_, index) => noting(`${index}`, write(`f${index % 50}`)));
    const quick = calls.map(({ tool, args }) => ({ tool, args: { ...args, ms: 0 } }));
    const results = await executor.executeMany(quick, context);
    expect(results.map(({ output }) => output)).toEqual(calls.map((_, index) => `${index}`));
    const ids = executor.getExecutions().map(({ result }) => result.output);
    expect(new Set(ids)).toEqual(new Set(calls.map((_, index) => `${index}`)));
    expect(ids).toHaveLength(1000);
    const history = await executor.history({ limit: 2000 });
    expect(history.items.every(({ state }) => state === 'succeeded')).toBe(true);
  });

  test('a call made inside another one does not wait for its own parent', async () => {
    const inner = defineTool({ name: 'inner', description: 'I', input: z.object({}), run: () => ok('in') });
    const outer = defineTool({
      name: 'outer',
      description: 'O',
      input: z.object({}),
      run: async (_, ctx) => ok(`out, ${(await executor.execute('inner', ctx)).output}`),
    });
    const { executor, call } = createToolwright({ tools: [inner, outer], timeout: 2 });
    expect((await call('outer')).output).toBe('out, in');
  });
});

describe('cancelling', () => {
  test('before it started says that nothing ran', async () => {
    const { log, noting, call, executor } = subject();
    const result = await call('note', noting('1').args, { signal: AbortSignal.abort() });
    expect(result.error).toMatchObject({ code: 'CANCELLED', details: { phase: 'not_started' } });
    expect(result.text).toBe('Error: note was cancelled before it started; nothing ran.');
    expect(log).toEqual([]);
    expect(executor.getExecutions()[0]?.state).toBe('cancelled');
  });

  test('while it waits for an earlier call says that nothing ran, and lets later ones go on', async () => {
    const { log, noting, call } = subject();
    const cancel = new AbortController();
    const first = call('note', noting('1', write('a')).args);
    const second = call('note', noting('2', write('a')).args, { signal: cancel.signal });
    const third = call('note', noting('3', write('a')).args);
    await new Promise(setImmediate);
    cancel.abort();
    expect((await second).error).toMatchObject({ code: 'CANCELLED', details: { phase: 'not_started' } });
    await Promise.all([first, third]);
    expect(log).toEqual(['1+', '1-', '3+', '3-']);
  });

  test('after it started says that it was interrupted, and tells the tool', async () => {
    let told: unknown;
    const wait = defineTool({
      name: 'wait',
      description: 'Wait for ever',
      input: z.object({}),
      access: () => [],
      run: (_, ctx) => new Promise(() => ctx.signal.addEventListener('abort', () => (told = ctx.signal.reason))),
    });
    const { call, executor } = createToolwright({ tools: [wait] });
    const cancel = new AbortController();
    const pending = call('wait', {}, { signal: cancel.signal });
    await new Promise(setImmediate);
    cancel.abort();
    const result = await pending;
    expect(result.error).toMatchObject({ code: 'CANCELLED', details: { phase: 'interrupted' } });
    expect(result.text).toContain('cancelled after it started');
    expect(told).toMatchObject({ message: 'wait was cancelled' });
    expect(executor.getExecutions()[0]?.state).toBe('interrupted');
  });

  test.each([
    ['failure', fail('CANCELLED', 'Cancelled after 2 steps.'), 'Error: Cancelled after 2 steps.'],
    ['value', ok('all 3 steps'), 'Error: work was cancelled after it had ended by itself. Its result:\nall 3 steps'],
  ])('a tool that ends when it is told to is waited for, and its %s is the answer', async (_what, result, text) => {
    const work = defineTool({
      name: 'work',
      description: 'Work in steps',
      input: z.object({}),
      access: () => [],
      endsOnAbort: true,
      run: (_, ctx) =>
        new Promise<Result<unknown>>((resolve) =>
          ctx.signal.addEventListener('abort', () => setImmediate(resolve, result)),
        ),
      render: String,
    });
    const { call, executor } = createToolwright({ tools: [work] });
    const cancel = new AbortController();
    const pending = call('work', {}, { signal: cancel.signal });
    await new Promise(setImmediate);
    cancel.abort();
    expect(await pending).toMatchObject({ error: { code: 'CANCELLED' }, text });
    expect(executor.getExecutions()[0]?.state).toBe('interrupted');
  });

  test('a parent that ends takes its inner call with it', async () => {
    const hang = defineTool({ name: 'hang', description: 'H', input: z.object({}), run: () => new Promise(() => {}) });
    const outer = defineTool({
      name: 'outer',
      description: 'O',
      input: z.object({}),
      run: async (_, ctx) => ok((await executor.execute('hang', ctx)).text),
    });
    const { executor, call } = createToolwright({ tools: [hang, outer], timeout: 0.1 });
    expect((await call('outer')).error?.code).toBe('TIMEOUT');
    await new Promise((done) => setTimeout(done, 20));
    expect(
      executor
        .getExecutions()
        .map(({ toolName }) => toolName)
        .sort(),
    ).toEqual(['hang', 'outer']);
  });
});

describe('a repeated key', () => {
  test('repeats the answer, not the call', async () => {
    const { log, noting, call } = subject();
    const { args } = noting('1');
    const first = await call('note', args, { key: 'k1' });
    const again = await call('note', args, { key: 'k1' });
    expect(again.output).toBe('1');
    expect(again.callId).toBe(first.callId);
    expect(again.metadata).toEqual({ repeated: true });
    expect(log).toEqual(['1+', '1-']);
    await call('note', args, { key: 'k2' });
    expect(log).toHaveLength(4);
  });

  test('while the first one still runs waits for its answer', async () => {
    const { log, noting, call } = subject();
    const both = await Promise.all([1, 2].map(() => call('note', noting('1').args, { key: 'k' })));
    expect(both.map(({ output }) => output)).toEqual(['1', '1']);
    expect(log).toEqual(['1+', '1-']);
  });

  test('of a call that failed repeats the failure', async () => {
    const { call } = subject();
    await call('note', {}, { key: 'k' });
    expect((await call('note', {}, { key: 'k' })).error).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('in another session is another call', async () => {
    const { log, noting, executor } = subject();
    for (const sessionId of ['a', 'b']) {
      await executor.execute('note', { workingDir: '.', sessionId }, noting('1').args, { key: 'k' });
    }
    expect(log).toHaveLength(4);
  });
});

describe('progress', () => {
  test('is told while the call runs, and not after it', async () => {
    let late: () => void = () => {};
    const work = defineTool({
      name: 'work',
      description: 'W',
      input: z.object({}),
      run(_, ctx) {
        ctx.progress({ message: 'half', percent: 50 });
        late = () => ctx.progress({ message: 'late' });
        return ok('done');
      },
    });
    const { call, executor } = createToolwright({ tools: [work] });
    const seen: unknown[] = [];
    executor.on((event) => seen.push(event.type === 'call.progressed' ? event.data : event.type));
    await call('work');
    late();
    expect(seen).toEqual([
      'call.requested',
      'call.started',
      { tool: 'work', message: 'half', percent: 50 },
      'call.finished',
    ]);
  });
});
