import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ToolError } from '../../kernel/error.ts';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { bashTool, EchoTool, readTool, SampleTool, writeTool } from '../../testing/sample-tools.ts';
import { ToolRegistry } from './registry.ts';

let registry: ToolRegistry;
const read = readTool();
const write = writeTool();
const bash = bashTool();

beforeEach(() => {
  registry = new ToolRegistry();
});

describe('registering', () => {
  test('[B38] a registered tool is there', () => {
    registry.register(read);
    expect(registry.exists('Read')).toBe(true);
    expect(registry.count()).toBe(1);
  });

  test('[B39] many at once, listed in the order of registration', () => {
    registry.registerMany([read, write, bash]);
    expect(registry.count()).toBe(3);
    expect(registry.listNames()).toEqual(['Bash', 'Read', 'Write']);
    expect(registry.listAll()).toEqual([read, write, bash]);
  });

  test('[B40] the same name twice is refused, unless it replaces on purpose', () => {
    registry.register(read);
    expect(() => registry.register(readTool())).toThrow(ToolError);
    expect(() => registry.register(readTool())).toThrow(/already registered/);
    const other = readTool();
    registry.register(other, { replace: true });
    expect(registry.get('Read')).toBe(other);
  });

  test('many at once is all or none', () => {
    registry.register(bash);
    expect(() => registry.registerMany([read, bashTool()])).toThrow(/already registered/);
    expect(registry.listNames()).toEqual(['Bash']);
  });

  test('[B45] [B46] a tool can be taken out, and only once', () => {
    registry.register(read);
    expect(registry.deregister('Read')).toBe(true);
    expect(registry.exists('Read')).toBe(false);
    expect(registry.deregister('Unknown')).toBe(false);
  });

  test('[B50] clear leaves nothing', () => {
    registry.registerMany([read, write]);
    registry.clear();
    expect(registry.count()).toBe(0);
    expect(registry.listAll()).toEqual([]);
  });

  test.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /A tool is an object/],
    ['an object of no known shape', { name: 'x', description: 'X' }, /neither run and input/],
    ['a bad name', new SampleTool('has space'), /cannot be a tool name/],
    ['no description', new SampleTool('x', [], { description: ' ' }), /needs a description/],
  ])('%s is refused with what to do', (_, tool, message) => {
    expect(() => registry.register(tool as never)).toThrow(message);
    expect(registry.count()).toBe(0);
  });

  test('[B67] ten concurrent tasks register ten tools', async () => {
    const tools = Array.from({ length: 10 }, (_, index) => new EchoTool(`Echo${index}`));
    await Promise.all(
      tools.map(async (tool) => {
        await new Promise(setImmediate);
        registry.register(tool);
      }),
    );
    expect(registry.count()).toBe(10);
    expect(new Set(registry.listAll())).toEqual(new Set(tools));
  });
});

describe('looking up', () => {
  test('[B41] [B42] get returns the instance, or undefined', () => {
    registry.register(read);
    expect(registry.get('Read')).toBe(read);
    expect(registry.get('Unknown')).toBeUndefined();
  });

  test('[B43] [B44] getOrRaise returns the instance, or raises with a suggestion', () => {
    registry.register(read);
    expect(registry.getOrRaise('Read')).toBe(read);
    expect(() => registry.getOrRaise('Unknown')).toThrow(ToolError);
    expect(() => registry.getOrRaise('Unknown')).toThrow(/not found/);
    expect(() => registry.getOrRaise('Raed')).toThrow(/Did you mean Read/);
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s is simply unknown', (name) => {
    registry.register(read);
    expect(registry.exists(name)).toBe(false);
    expect(registry.get(name)).toBeUndefined();
    expect(registry.isEnabled(name)).toBe(false);
    expect(registry.find(name)).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
  });

  test('[B47] [B48] all tools, and their names sorted', () => {
    registry.registerMany([read, write, bash]);
    expect(registry.listAll()).toEqual(expect.arrayContaining([read, write, bash]));
    expect(registry.listAll()).toHaveLength(3);
    expect(registry.listNames()).toEqual(['Bash', 'Read', 'Write']);
  });

  test('[B49] by category', () => {
    registry.registerMany([read, write, bash]);
    expect(registry.listByCategory(ToolCategory.FILE)).toEqual([read, write]);
  });

  test('[E14] list and toOpenAIFunctions give what is registered', () => {
    registry.registerMany([read, bash]);
    expect(registry.list()).toEqual(registry.listAll());
    expect(registry.get('Read')).toBe(read);
    expect(registry.toOpenAIFunctions()).toEqual([
      read.toOpenAISchema().function,
      { name: 'Bash', description: 'Sample tool Bash', parameters: bash.toOpenAISchema().function.parameters },
    ]);
  });
});

describe('the process-wide registry', () => {
  beforeEach(() => ToolRegistry.reset());

  test('[B51] is one, while new gives one of your own', () => {
    expect(ToolRegistry.shared()).toBe(ToolRegistry.shared());
    expect(new ToolRegistry()).not.toBe(ToolRegistry.shared());
  });

  test('[B52] can be reset', () => {
    ToolRegistry.shared().register(read);
    ToolRegistry.reset();
    expect(ToolRegistry.shared().count()).toBe(0);
  });
});

describe('switching off, aliases, toolsets', () => {
  test('a tool that is off is listed, but not offered', () => {
    registry.registerMany([read, bash]);
    expect(registry.disable('Read')).toBe(true);
    expect(registry.isEnabled('Read')).toBe(false);
    expect(registry.count()).toBe(2);
    expect(registry.offered().map(({ name }) => name)).toEqual(['Bash']);
    expect(registry.toOpenAIFunctions()).toHaveLength(1);
    expect(registry.find('Read')).toMatchObject({ ok: false, error: { code: 'TOOL_DISABLED' } });
    expect(registry.enable('Read')).toBe(true);
    expect(registry.find('Read').ok).toBe(true);
    expect(registry.disable('Unknown')).toBe(false);
  });

  test('a replacement does not switch a tool back on', () => {
    registry.register(read);
    registry.disable('Read');
    registry.register(readTool(), { replace: true });
    expect(registry.isEnabled('Read')).toBe(false);
  });

  test('an alias finds the tool, and goes with it', () => {
    registry.registerMany([read, bash]);
    registry.alias('cat', 'Read');
    expect(registry.get('cat')).toBe(read);
    expect(() => registry.alias('Bash', 'Read')).toThrow(/already names a tool/);
    expect(() => registry.alias('cat', 'Bash')).toThrow(/already names a tool/);
    expect(() => registry.alias('x', 'Nothing')).toThrow(/not found/);
    expect(() => registry.register(new EchoTool('cat'))).toThrow(/already registered/);
    registry.deregister('Read');
    expect(registry.exists('cat')).toBe(false);
  });

  test('a toolset shows some tools under other names, with other parameter names', () => {
    const size = defineTool({
      name: 'size',
      description: 'Length of a text',
      input: z.object({ path: z.string(), deep: z.object({ x: z.number() }).optional() }),
      run: ({ path }) => ok(path.length),
    });
    registry.registerMany([size, bash]);
    registry.addToolset({
      name: 'short',
      tools: { len: { tool: 'size', parameters: { file: 'path' } }, gone: 'missing' },
    });
    expect(registry.listToolsets()).toEqual(['short']);
    const [shown, ...rest] = registry.offered('short');
    expect(rest).toEqual([]);
    expect(shown?.name).toBe('len');
    expect(shown?.input.json).toMatchObject({ properties: { file: { type: 'string' } }, required: ['file'] });

    const found = registry.find('len', 'short');
    expect(found.ok && found.value.name).toBe('size');
    expect(found.ok && found.value.input.check({ file: 'abc' })).toMatchObject({ ok: true, value: { path: 'abc' } });
    expect(found.ok && found.value.input.check({})).toMatchObject({
      ok: false,
      issues: [{ path: 'file', message: 'Missing required parameter: file' }],
    });
    expect(registry.find('Bash', 'short')).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
    expect(() => registry.offered('none')).toThrow("There is no toolset 'none'. Known: short.");
    expect(() => registry.addToolset({ name: 'short', tools: {} })).toThrow(/already exists/);
  });

  test('a toolset speaks of parameters by the names it shows, in sentences and warnings', () => {
    const kind = defineTool({
      name: 'kind',
      description: 'Kind of a thing',
      input: z.object({ type: z.string(), a: z.int().optional() }),
      run: ({ type }) => ok(type),
    });
    registry.register(kind);
    registry.addToolset({ name: 'view', tools: { kind: { tool: 'kind', parameters: { kind: 'type', count: 'a' } } } });
    const found = registry.find('kind', 'view');
    if (!found.ok) throw new Error('not found');
    const messages = (args: unknown) => {
      const checked = found.value.input.check(args);
      return [...(checked.ok ? [] : checked.issues.map(({ message }) => message)), ...checked.warnings];
    };
    expect(messages({ kind: 1 })).toEqual(['Invalid type for kind: expected string']);
    expect(messages({ kind: 'x', count: 'y' })).toEqual(['Invalid type for count: expected integer']);
    expect(messages({ kind: 'x', type: 'y' })[0]).toMatch(
      /'kind' was ignored|'type' was ignored|Unknown parameter 'type'/,
    );
    expect(messages({ kind: 'x', conut: 1 })).toEqual(["Unknown parameter 'conut' was ignored. Did you mean 'count'?"]);
  });

  test('a tool that is off is off in its toolsets too', () => {
    registry.register(read);
    registry.addToolset({ name: 'view', tools: { cat: 'Read', constructor: 'Read' } });
    registry.disable('Read');
    expect(registry.find('cat', 'view')).toMatchObject({ ok: false, error: { code: 'TOOL_DISABLED' } });
    expect(registry.find('toString', 'view')).toMatchObject({ ok: false, error: { code: 'UNKNOWN_TOOL' } });
    expect(registry.offered('view')).toEqual([]);
  });
});
