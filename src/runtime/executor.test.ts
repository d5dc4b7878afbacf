import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Event } from '../kernel/call/event.ts';
import { fail, ok } from '../kernel/result.ts';
import { ToolCategory } from '../kernel/tool/category.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { ToolResult } from '../kernel/tool/tool-result.ts';
import { bashTool, EchoTool, readTool, SampleTool, writeTool } from '../testing/sample-tools.ts';
import { type ExecutorOptions, ToolExecutor } from './executor.ts';
import { type AnyTool, ToolRegistry } from './registry/registry.ts';

const HERE = { workingDir: '/home/user' };

function executorWith(tools: readonly AnyTool[], options?: ExecutorOptions): ToolExecutor {
  const registry = new ToolRegistry();
  registry.registerMany(tools);
  return new ToolExecutor(registry, options);
}

/** A tool that does what it is told and touches nothing. */
function doing(name: string, run: () => unknown) {
  return defineTool({ name, description: name, input: z.object({}), access: () => [], run: run as never });
}

describe('ToolExecutor', () => {
  test('[B53] executes a tool by name', async () => {
    const result = await executorWith([new EchoTool()]).execute('Echo', HERE, { message: 'Hello' });
    expect(result.success).toBe(true);
    expect(result.output).toBe('Hello');
  });

  test('[B54] an unknown tool fails with its name and suggests the nearest', async () => {
    const result = await executorWith([]).execute('Unknown', HERE);
    expect(result.success).toBe(false);
    expect(result.error?.message).toBe('Unknown tool: Unknown');
    expect(result.error?.code).toBe('UNKNOWN_TOOL');

    const near = await executorWith([readTool()]).execute('raed', HERE);
    expect(near.error?.details).toEqual({ suggestions: ['Read'] });
    expect(near.text).toBe('Error: Unknown tool: raed. Did you mean Read?');
  });

  test('[B55] [B56] all schemas in a format', () => {
    const executor = executorWith([readTool(), writeTool(), bashTool()]);
    const openai = executor.getAllSchemas('openai');
    expect(openai).toHaveLength(3);
    for (const schema of openai) expect(schema.type).toBe('function');
    expect(executor.getAllSchemas()).toEqual(openai);
    const anthropic = executor.getAllSchemas('anthropic');
    expect(anthropic).toHaveLength(3);
    for (const schema of anthropic) expect(schema.input_schema).toMatchObject({ type: 'object' });
    expect(() => executor.getAllSchemas('xml' as never)).toThrow(
      /Unknown schema format 'xml': use json-schema, openai/,
    );
  });

  test('[B57] schemas by category', () => {
    const executor = executorWith([readTool(), writeTool(), bashTool()]);
    const schemas = executor.getSchemasByCategory(ToolCategory.FILE, 'openai');
    expect(schemas.map((schema) => schema.function.name)).toEqual(['Read', 'Write']);
  });

  test('[B58] [B59] history is kept in order, and can be cleared', async () => {
    const executor = executorWith([readTool(), writeTool()]);
    await executor.execute('Read', HERE, { file_path: '/foo' });
    await executor.execute('Write', HERE, { file_path: '/bar', content: 'test' });
    const executions = executor.getExecutions();
    expect(executions.map(({ toolName }) => toolName)).toEqual(['Read', 'Write']);
    expect(executions[0]?.params).toEqual({ file_path: '/foo' });
    expect(executions[1]?.result.success).toBe(true);
    executor.clearExecutions();
    expect(executor.getExecutions()).toEqual([]);
  });

  test('[B60] an execution has its times', async () => {
    const executor = executorWith([doing('nap', () => new Promise((done) => setTimeout(done, 30, ok('rested'))))]);
    await executor.execute('nap', HERE);
    const [execution] = executor.getExecutions();
    expect(execution?.startedAt).toBeInstanceOf(Date);
    expect(execution?.completedAt).toBeInstanceOf(Date);
    expect(execution?.durationMs).toBeGreaterThan(25);
    expect(Number(execution?.completedAt)).toBeGreaterThanOrEqual(Number(execution?.startedAt));
  });

  test('history is bounded', async () => {
    const executor = executorWith([new EchoTool()], { historyLimit: 3 });
    for (const message of 'abcde') await executor.execute('Echo', HERE, { message });
    expect(executor.getExecutions().map(({ result }) => result.output)).toEqual(['c', 'd', 'e']);
    expect((await executor.history()).items.map(({ args }) => args)).toEqual([
      { message: 'c' },
      { message: 'd' },
      { message: 'e' },
    ]);
  });

  test('[B66] no exception gets out', async () => {
    const executor = executorWith([
      doing('bad', () => {
        throw new RangeError('Unexpected error');
      }),
    ]);
    const result = await executor.execute('bad', HERE);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain('Unexpected error');
  });

  test('[B68] ten concurrent executions complete without mixing their state', async () => {
    const executor = executorWith([new EchoTool()]);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) => executor.execute('Echo', HERE, { message: `m${index}` })),
    );
    expect(results.map(({ output }) => output)).toEqual(Array.from({ length: 10 }, (_, index) => `m${index}`));
    expect(executor.getExecutions()).toHaveLength(10);
    for (const { params, result } of executor.getExecutions()) {
      expect(result.output).toBe((params as { message: string }).message);
    }
  });

  test('[B69] the full life of a tool', async () => {
    const registry = new ToolRegistry();
    const tool = new EchoTool('Custom');
    registry.register(tool);
    const executor = new ToolExecutor(registry);
    expect(executor.getAllSchemas('openai')).toHaveLength(1);
    expect((await executor.execute('Custom', HERE, { message: 'x' })).success).toBe(true);
    expect((await executor.execute('Custom', HERE, { message: 1 })).error?.message).toBe(
      'Invalid type for message: expected string',
    );
    expect(registry.deregister('Custom')).toBe(true);
    expect((await executor.execute('Custom', HERE, { message: 'x' })).error?.message).toBe('Unknown tool: Custom');
    expect(executor.getAllSchemas('openai')).toEqual([]);
  });

  test('[B70] the tool system is there without configuration', async () => {
    ToolRegistry.reset();
    const executor = new ToolExecutor();
    expect(executor.registry).toBe(ToolRegistry.shared());
    ToolRegistry.shared().register(new EchoTool());
    expect(executor.getAllSchemas('anthropic').map(({ name }) => name)).toEqual(['Echo']);
    expect((await executor.execute('Echo', HERE, { message: 'up' })).output).toBe('up');
    ToolRegistry.reset();
  });

  test('a tool that is switched off is refused, others go on', async () => {
    const executor = executorWith([new EchoTool(), readTool()]);
    executor.registry.disable('Echo');
    expect((await executor.execute('Echo', HERE, { message: 'x' })).error?.code).toBe('TOOL_DISABLED');
    expect((await executor.execute('Read', HERE, { file_path: 'x' })).success).toBe(true);
  });

  test('records carry the canonical name, whatever name was used', async () => {
    const executor = executorWith([new EchoTool()]);
    executor.registry.alias('say', 'Echo');
    await executor.execute('say', HERE, { message: 'x' });
    expect(executor.getExecutions()[0]?.toolName).toBe('Echo');
  });

  test('an executor over a toolset knows only its tools, by its names', async () => {
    const registry = new ToolRegistry();
    registry.registerMany([new EchoTool(), readTool()]);
    registry.addToolset({ name: 'small', tools: { say: { tool: 'Echo', parameters: { text: 'message' } } } });
    const executor = new ToolExecutor(registry, { toolset: 'small' });
    expect(executor.getAllSchemas('anthropic').map(({ name }) => name)).toEqual(['say']);
    expect((await executor.execute('say', HERE, { text: 'hi' })).output).toBe('hi');
    expect(executor.getExecutions()[0]).toMatchObject({ toolName: 'Echo', params: { message: 'hi' } });
    expect((await executor.execute('Read', HERE, { file_path: 'x' })).error?.code).toBe('UNKNOWN_TOOL');
    expect(() => new ToolExecutor(registry, { toolset: 'nope' })).toThrow(/There is no toolset 'nope'/);
  });

  test('a context that makes no sense throws', () => {
    expect(() => executorWith([]).execute('x', { workingDir: '' })).toThrow(/workingDir/);
  });
});

describe('whatever goes wrong', () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;

  const cases: [string, () => unknown, string, string][] = [
    ['a throw', () => Promise.reject(new Error('nope')), 'EXECUTION_ERROR', 'nope'],
    ['undefined thrown', () => Promise.reject(undefined), 'EXECUTION_ERROR', 'threw undefined'],
    ['an expected failure', () => fail('FILE_NOT_FOUND', 'No a.ts here.'), 'FILE_NOT_FOUND', 'No a.ts here.'],
    ['no result', () => undefined, 'EXECUTION_ERROR', 'returned nothing instead of a result'],
    ['a bare value', () => 'text', 'EXECUTION_ERROR', 'returned a string instead of a result'],
    ['a circular value', () => ok(circular), 'EXECUTION_ERROR', 'cannot be written as JSON'],
    ['a bigint', () => ok({ n: 1n }), 'EXECUTION_ERROR', 'cannot be written as JSON'],
    ['a function', () => ok(() => 1), 'EXECUTION_ERROR', 'cannot be written as JSON'],
    ['a call that never settles', () => new Promise(() => {}), 'TIMEOUT', 'timed out after 0.05 s'],
  ];

  test.each(cases)('%s: the stated error, one record, one final event, and the next call works', async (...row) => {
    const [, run, code, message] = row;
    const executor = executorWith([doing('subject', run), new EchoTool()]);
    const events: Event[] = [];
    executor.on((event) => events.push(event));

    const result = await executor.execute('subject', { ...HERE, timeout: 0.05 });
    expect(result.ok).toBe(false);
    expect(result.error?.code).toBe(code);
    expect(result.error?.message).toContain(message);
    expect(result.text).toContain(message);
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ ok: false, error: { code } });
    expect((await executor.history()).items).toMatchObject([{ id: result.callId, outcome: { ok: false } }]);
    expect(events.filter(({ type }) => type === 'call.finished')).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual(['call.requested', 'call.started', 'call.finished']);

    expect((await executor.execute('Echo', HERE, { message: 'next' })).output).toBe('next');
  });

  test.each([
    ['not an object', 'text', 'Arguments must be an object, got a string.'],
    ['null', null, 'Arguments must be an object, got null.'],
    ['an array', [], 'Arguments must be an object, got an array.'],
    ['a missing parameter', {}, 'Missing required parameter: message'],
    ['a wrong type', { message: 1 }, 'Invalid type for message: expected string'],
  ])('arguments that are %s leave one record and one final event', async (_, args, message) => {
    const executor = executorWith([new EchoTool()]);
    const types: string[] = [];
    executor.on(({ type }) => types.push(type));
    const result = await executor.execute('Echo', HERE, args);
    expect(result.error).toMatchObject({ code: 'INVALID_INPUT', message });
    expect(types).toEqual(['call.requested', 'call.finished']);
    expect((await executor.history()).items).toMatchObject([{ state: 'failed' }]);
  });

  test('every issue is told to the model, the first one to the program', async () => {
    const tool = new SampleTool('two', [
      { name: 'a', type: 'string', description: 'A' },
      { name: 'b', type: 'string', description: 'B' },
    ]);
    const result = await executorWith([tool]).execute('two', HERE);
    expect(result.error?.message).toBe('Missing required parameter: a');
    expect(result.text).toBe('Error: Missing required parameter: a; Missing required parameter: b');
    expect(result.error?.details?.issues).toHaveLength(2);
  });

  test('a listener that throws hurts nobody', async () => {
    const executor = executorWith([new EchoTool()]);
    const seen: string[] = [];
    executor.on(() => {
      throw new Error('bad listener');
    });
    const stop = executor.on(({ type }) => seen.push(type));
    expect((await executor.execute('Echo', HERE, { message: 'x' })).ok).toBe(true);
    expect(seen).toEqual(['call.requested', 'call.started', 'call.finished']);
    stop();
    await executor.execute('Echo', HERE, { message: 'x' });
    expect(seen).toHaveLength(3);
  });

  test.each(['summary', 'access', 'approval', 'render', 'preview'] as const)(
    'a %s that throws ends the call',
    async (part) => {
      const broken = {
        ...doing('broken', () => ok('fine')),
        [part]: () => {
          throw new Error(`${part} is broken`);
        },
      };
      const executor = executorWith([broken, new EchoTool()]);
      const result = await executor.execute('broken', { ...HERE, dryRun: part === 'preview' });
      expect(result.ok).toBe(false);
      expect(result.error?.message).toContain(`${part} is broken`);
      expect((await executor.history()).items).toHaveLength(1);
      expect((await executor.execute('Echo', HERE, { message: 'x' })).ok).toBe(true);
    },
  );

  test('a tool may say that it timed out or was interrupted itself', async () => {
    const executor = executorWith([doing('slow', () => fail('TIMEOUT', 'The build took too long.'))]);
    await executor.execute('slow', HERE);
    expect(executor.getExecutions()[0]?.state).toBe('timed_out');
  });

  test('a ToolResult may be returned as well as a plain result', async () => {
    const executor = executorWith([doing('both', () => ToolResult.ok('x', { lines: 1 }))]);
    expect(await executor.execute('both', HERE)).toMatchObject({ output: 'x', metadata: { lines: 1 } });
  });
});
