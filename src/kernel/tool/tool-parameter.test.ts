import { describe, expect, test } from 'vitest';
import { parametersInput, ToolParameter, type ToolParameterInit } from './tool-parameter.ts';

describe('ToolParameter', () => {
  test('[B01] a simple string parameter becomes its JSON Schema', () => {
    const parameter = new ToolParameter({
      name: 'file_path',
      type: 'string',
      description: 'Absolute path to the file to read',
      required: true,
    });
    expect(parameter).toMatchObject({ name: 'file_path', type: 'string', required: true });
    expect(parameter.toJsonSchema()).toEqual({ type: 'string', description: 'Absolute path to the file to read' });
  });

  test('[B02] an enum and a default are part of the JSON Schema', () => {
    const parameter = new ToolParameter({
      name: 'format',
      type: 'string',
      description: 'Output format',
      required: false,
      default: 'openai',
      enum: ['openai', 'anthropic'],
    });
    expect(parameter.required).toBe(false);
    expect(parameter.toJsonSchema()).toEqual({
      type: 'string',
      description: 'Output format',
      default: 'openai',
      enum: ['openai', 'anthropic'],
    });
  });

  test('[B03] numeric bounds are part of the JSON Schema', () => {
    const parameter = new ToolParameter({
      name: 'timeout',
      type: 'integer',
      description: 'Execution timeout in seconds',
      required: false,
      default: 120,
      minimum: 1,
      maximum: 600,
    });
    expect(parameter.toJsonSchema()).toEqual({
      type: 'integer',
      description: 'Execution timeout in seconds',
      default: 120,
      minimum: 1,
      maximum: 600,
    });
  });

  test('[B04] length bounds become minLength and maxLength', () => {
    const parameter = new ToolParameter({
      name: 'content',
      type: 'string',
      description: 'File content to write',
      required: true,
      minLength: 1,
      maxLength: 1_000_000,
    });
    expect(parameter.toJsonSchema()).toEqual({
      type: 'string',
      description: 'File content to write',
      minLength: 1,
      maxLength: 1_000_000,
    });
  });

  test.each<[string, Partial<ToolParameterInit>, RegExp]>([
    ['no name', { name: '' }, /needs a name/],
    ['an unknown type', { type: 'text' as never }, /type 'text' is unknown: use string/],
    ['no description', { description: '' }, /needs a description/],
    ['an empty enum', { enum: [] }, /enum is empty/],
    ['a default of the wrong type', { default: 7 }, /default 7 does not fit/],
    ['a default outside the enum', { enum: ['a'], default: 'b' }, /default "b" does not fit/],
    ['a default for a required one', { required: true, default: 'x' }, /default would never be used/],
    ['a minimum above the maximum', { type: 'integer', minimum: 5, maximum: 1 }, /minimum is above its maximum/],
    ['a minimum of a string', { minimum: 5 }, /minimum and maximum are for integer and number/],
    ['a negative length', { minLength: -1 }, /length cannot be negative/],
    ['an enum of another type', { enum: [1, 2] }, /enum value 1 does not fit/],
    ['an enum value out of bounds', { type: 'integer', maximum: 3, enum: [2, 9] }, /enum value 9 does not fit/],
    ['a default below the minimum', { type: 'integer', minimum: 5, default: 1 }, /default 1 does not fit/],
  ])('%s is refused when it is defined', (_, wrong, message) => {
    expect(() => new ToolParameter({ name: 'x', type: 'string', description: 'X', ...wrong })).toThrow(message);
  });

  test('nested objects and arrays name the path of what is wrong', () => {
    const { check } = parametersInput([
      new ToolParameter({
        name: 'edits',
        type: 'array',
        description: 'Edits',
        items: {
          name: 'edit',
          type: 'object',
          description: 'One edit',
          properties: [
            { name: 'old', type: 'string', description: 'Old' },
            { name: 'times', type: 'integer', description: 'Times', minimum: 1 },
          ],
        },
      }),
    ]);
    expect(messages(check({ edits: [{ old: 'a', times: 1 }, { times: 0 }] }))).toEqual([
      'Missing required parameter: edits[1].old',
      'Value for edits[1].times is below minimum: 1',
    ]);
    expect(messages(check({ edits: ['x'] }))).toEqual(['Invalid type for edits[0]: expected object']);
    expect(check({ edits: [{ old: 'a', times: 2, extra: 1 }] })).toMatchObject({
      ok: true,
      warnings: ["Unknown parameter 'edits[0].extra' was ignored."],
    });
  });

  test('a parameter defined twice is refused', () => {
    const parameter = new ToolParameter({ name: 'x', type: 'string', description: 'X' });
    expect(() => parametersInput([parameter, parameter])).toThrow("Parameter 'x' is defined twice.");
  });
});

function messages(checked: ReturnType<ReturnType<typeof parametersInput>['check']>): string[] {
  return checked.ok ? [] : checked.issues.map(({ message }) => message);
}
