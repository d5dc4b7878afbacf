import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../result.ts';
import { defineTool, type Tool } from './tool.ts';

const run = () => ok(null);

describe('defineTool', () => {
  test('gives run the types of its schemas', () => {
    const tool = defineTool({
      name: 'size',
      description: 'Size of a text',
      input: z.object({ text: z.string(), unit: z.enum(['chars', 'words']).default('chars') }),
      output: z.object({ size: z.number() }),
      run: ({ text, unit }) => {
        expectTypeOf(unit).toEqualTypeOf<'chars' | 'words'>();
        return ok({ size: text.length });
      },
      render: ({ size }) => `${size}`,
    });
    expectTypeOf(tool).toExtend<Tool>();
    expect(tool).toMatchObject({ category: 'other', effect: 'once' });
    expect(tool.outputJson).toMatchObject({ type: 'object', properties: { size: { type: 'number' } } });
  });

  test('advertises what was declared, without bounds nobody wrote', () => {
    const input = z.object({ n: z.int(), m: z.int().min(1).max(5).optional(), s: z.string().describe('S') });
    expect(defineTool({ name: 't', description: 'T', input, run }).input.json).toEqual({
      type: 'object',
      properties: {
        n: { type: 'integer' },
        m: { type: 'integer', minimum: 1, maximum: 5 },
        s: { type: 'string', description: 'S' },
      },
      required: ['n', 's'],
    });
  });

  test.each<[string, Parameters<typeof defineTool>[0], RegExp]>([
    ['a name with a blank', { name: 'a b', description: 'D', input: z.object({}), run }, /'a b' cannot be a tool name/],
    ['a name too long', { name: 'x'.repeat(65), description: 'D', input: z.object({}), run }, /1 to 64 letters/],
    ['no description', { name: 'x', description: '', input: z.object({}), run }, /needs a description/],
    ['an input that is no object', { name: 'x', description: 'D', input: z.string(), run }, /use z.object/],
    [
      'a date',
      { name: 'x', description: 'D', input: z.object({ d: z.date() }), run },
      /input schema cannot be offered/,
    ],
    [
      'an output that does not convert',
      {
        name: 'x',
        description: 'D',
        input: z.object({}),
        output: z.object({ b: z.bigint() }),
        run: () => ok({ b: 1n }),
      },
      /output schema cannot be offered/,
    ],
  ])('%s is refused when it is defined', (_, definition, message) => {
    expect(() => defineTool(definition)).toThrow(message);
  });
});

test.each<[string, Record<string, string[]>, RegExp]>([
  ['of a parameter that is none', { b: ['c'] }, /aliases for 'b', which is no parameter/],
  ['that is a parameter itself', { a: ['other'] }, /is a parameter itself/],
  ['for two parameters', { a: ['x'], other: ['x'] }, /stands for two parameters/],
])('an alias %s is refused when it is defined', (_, aliases, message) => {
  const input = z.object({ a: z.string(), other: z.string() });
  expect(() => defineTool({ name: 't', description: 'T', input, aliases, run })).toThrow(message);
});

describe('what a Zod schema refuses, in sentences', () => {
  const { check } = defineTool({
    name: 't',
    description: 'T',
    input: z.object({
      edits: z
        .array(z.object({ old: z.string().min(1), all: z.boolean().optional() }))
        .min(1)
        .max(2)
        .optional(),
      url: z.url().optional(),
      either: z.union([z.string(), z.number()]).optional(),
      positive: z.number().positive().optional(),
      below: z.number().lt(10).optional(),
      kind: z.literal('file').optional(),
      strict: z.strictObject({ a: z.string() }).optional(),
      map: z.record(z.string(), z.int()).optional(),
      refined: z
        .string()
        .refine((text) => text !== 'no', 'Must not be no')
        .optional(),
      tuple: z.tuple([z.string(), z.int()]).optional(),
      shape: z
        .discriminatedUnion('type', [
          z.object({ type: z.literal('circle'), radius: z.int() }),
          z.object({ type: z.literal('square'), side: z.int() }),
        ])
        .optional(),
      target: z.union([z.object({ path: z.string() }), z.object({ url: z.string(), depth: z.int() })]).optional(),
      both: z
        .object({ a: z.string().optional(), b: z.string().optional() })
        .refine(({ a, b }) => a !== undefined || b !== undefined, { path: ['a'], message: 'Give a or b' })
        .optional(),
    }),
    run,
  }).input;

  test.each<[unknown, string]>([
    [{ edits: [{ old: 'a' }, {}] }, 'Missing required parameter: edits[1].old'],
    [{ edits: [{ old: 'a', all: 'yes' }] }, 'Invalid type for edits[0].all: expected boolean'],
    [{ edits: [{ old: '' }] }, 'Value for edits[0].old is shorter than minimum length: 1'],
    [{ edits: [] }, 'Value for edits has fewer items than the minimum: 1'],
    [{ edits: [{ old: 'a' }, { old: 'a' }, { old: 'a' }] }, 'Value for edits has more items than the maximum: 2'],
    [{ url: 'nope' }, 'Invalid value for url: invalid URL'],
    [{ either: true }, 'Invalid value for either: must be string or number'],
    [{ positive: 0 }, 'Invalid value for positive: must be above 0'],
    [{ below: 10 }, 'Invalid value for below: must be below 10'],
    [{ kind: 'dir' }, "Invalid value for kind: must be one of ['file']"],
    [{ strict: { a: 'x', b: 1 } }, "Invalid value for strict: it has no parameter 'b'"],
    [{ map: { x: 'y' } }, 'Invalid type for map.x: expected integer'],
    [{ refined: 'no' }, 'Invalid value for refined: must not be no'],
    [{ tuple: ['a', 'b'] }, 'Invalid type for tuple[1]: expected integer'],
    [{ shape: { type: 'line' } }, "Invalid value for shape.type: must be one of ['circle', 'square']"],
    [{ shape: { type: 'circle', radius: 'x' } }, 'Invalid type for shape.radius: expected integer'],
    [{ shape: { type: 'circle' } }, 'Missing required parameter: shape.radius'],
    [{ target: {} }, 'Missing required parameter: target.path'],
    [{ target: { url: 'x', depth: 1.5 } }, 'Invalid type for target.depth: expected integer'],
    [{ both: {} }, 'Invalid value for both.a: give a or b'],
  ])('%j', (args, message) => {
    const checked = check(args);
    expect(checked.ok ? undefined : checked.issues[0].message).toBe(message);
  });

  test('open objects take any key, and closed ones warn of unknown keys', () => {
    expect(check({ map: { any: 1 } })).toMatchObject({ ok: true, warnings: [] });
    expect(check({ edits: [{ old: 'a', al: true }] })).toMatchObject({
      warnings: ["Unknown parameter 'edits[0].al' was ignored. Did you mean 'all'?"],
    });
  });
});
