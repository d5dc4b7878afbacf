import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createToolwright } from '../create-toolwright.ts';
import type { PlainTool } from './plain-tool.ts';

const inputSchema = z
  .object({
    path: z.string().describe('Path relative to workspace root'),
    encoding: z.enum(['utf-8', 'base64']).optional(),
  })
  .describe('read_file input');

const readFileTool: PlainTool = {
  name: 'read_file',
  description: 'Read the contents of a file in the workspace',
  inputSchema,
  outputSchema: z.object({ content: z.string(), size: z.number() }),
  requiresApproval: false,
  async execute(args: unknown) {
    const { path, encoding = 'utf-8' } = inputSchema.parse(args);
    if (path === 'gone') return { ok: false, error: { code: 'FILE_NOT_FOUND', message: 'No such file: gone' } };
    if (path === 'odd') return { ok: false, error: { code: 'E_ODD', message: 'Odd', details: { n: 1 } } };
    return { ok: true, value: { content: `${path} as ${encoding}`, size: path.length } };
  },
};

describe('an object of the plain shape', () => {
  const { call, registry } = createToolwright({ tools: [readFileTool] });

  test('[E13] registers as it is, with Zod compiled to JSON Schema', async () => {
    expect(registry.get('read_file')).toBe(readFileTool);
    expect(registry.toOpenAIFunctions()).toEqual([
      {
        name: 'read_file',
        description: 'Read the contents of a file in the workspace',
        parameters: {
          type: 'object',
          description: 'read_file input',
          properties: {
            path: { type: 'string', description: 'Path relative to workspace root' },
            encoding: { type: 'string', enum: ['utf-8', 'base64'] },
          },
          required: ['path'],
        },
      },
    ]);
    expect(registry.offered()[0]?.outputJson).toMatchObject({ type: 'object', required: ['content', 'size'] });
  });

  test('[E13] runs with valid arguments, and its failures are values', async () => {
    expect((await call('read_file', { path: 'a' })).output).toEqual({ content: 'a as utf-8', size: 1 });
    expect((await call('read_file', { path: 1 })).error?.message).toBe('Invalid type for path: expected string');
    expect((await call('read_file', { path: 'gone' })).error).toMatchObject({
      code: 'FILE_NOT_FOUND',
      message: 'No such file: gone',
    });
    expect((await call('read_file', { path: 'odd' })).error).toMatchObject({
      code: 'E_ODD',
      message: 'Odd',
      details: { n: 1 },
    });
  });

  test.each<[string, PlainTool['requiresApproval'], number]>([
    ['true', true, 2],
    ['false', false, 0],
    ['a function', ((args: { path: string }) => args.path === 'a') as never, 1],
    ['an async function', (async (args: { path: string }) => args.path === 'a') as never, 1],
  ])('[E13] [E18] requiresApproval may be %s', async (_, requiresApproval, times) => {
    let asked = 0;
    const approver = async () => ({ approved: ++asked > 0 });
    const asking = createToolwright({ tools: [{ ...readFileTool, requiresApproval }], approver });
    for (const path of ['a', 'b']) expect((await asking.call('read_file', { path })).ok).toBe(true);
    expect(asked).toBe(times);
  });

  test('may have a JSON Schema instead of Zod, with the same sentences', async () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, maxLength: 5 },
        count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        format: { enum: ['json', 'yaml'] },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
      },
      required: ['path'],
    };
    const execute = async (args: unknown) => ({ ok: true as const, value: args });
    const tools = [{ name: 'foreign', description: 'F', inputSchema: schema, requiresApproval: false, execute }];
    const foreign = createToolwright({ tools });
    const message = async (args: unknown) => (await foreign.call('foreign', args)).error?.message;

    expect((await foreign.call('foreign', { path: 'a' })).output).toEqual({ path: 'a', count: 3 });
    expect(await message({})).toBe('Missing required parameter: path');
    expect(await message({ path: 7 })).toBe('Invalid type for path: expected string');
    expect(await message({ path: '' })).toBe('Value for path is shorter than minimum length: 1');
    expect(await message({ path: 'abcdef' })).toBe('Value for path exceeds maximum length: 5');
    expect(await message({ path: 'a', count: 1.5 })).toBe('Invalid type for count: expected integer');
    expect(await message({ path: 'a', count: 0 })).toBe('Value for count is below minimum: 1');
    expect(await message({ path: 'a', count: 10 })).toBe('Value for count exceeds maximum: 9');
    expect(await message({ path: 'a', format: 'xml' })).toBe(
      "Invalid value for format: must be one of ['json', 'yaml']",
    );
    expect(await message({ path: 'a', tags: ['x', 1] })).toBe('Invalid type for tags[1]: expected string');
    expect(await message({ path: 'a', tags: [] })).toBe('Value for tags has fewer items than the minimum: 1');
    expect((await foreign.call('foreign', { path: 'a', pth: 'b' })).warnings).toEqual([
      "Unknown parameter 'pth' was ignored. Did you mean 'path'?",
    ]);
  });

  test('never changes the arguments it was given', async () => {
    const args = { path: 'a' };
    await call('read_file', args);
    expect(args).toEqual({ path: 'a' });
  });

  test.each<[string, Partial<Record<keyof PlainTool, unknown>>, RegExp]>([
    [
      'a schema that is no object',
      { inputSchema: z.string() },
      /its input schema cannot be offered.*must be an object/,
    ],
    ['a schema that does not convert', { inputSchema: z.object({ d: z.date() }) }, /input schema cannot be offered/],
    [
      'a broken JSON Schema',
      { inputSchema: { type: 'object', properties: { a: { type: 'nope' } } } },
      /cannot be offered/,
    ],
    ['no requiresApproval', { requiresApproval: undefined }, /requiresApproval must be true, false or a function/],
  ])('with %s is refused when it is registered', (_, wrong, message) => {
    expect(() => createToolwright({ tools: [{ ...readFileTool, ...wrong } as PlainTool] })).toThrow(message);
  });
});
