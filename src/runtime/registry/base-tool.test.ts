import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import { ToolParameter, type ToolParameterInit } from '../../kernel/tool/tool-parameter.ts';
import { ToolResult } from '../../kernel/tool/tool-result.ts';
import { EchoTool, SampleTool } from '../../testing/sample-tools.ts';
import { BaseTool, type ParameterValues } from './base-tool.ts';

const HERE = { workingDir: '/home/user' };

class TestTool extends BaseTool {
  readonly name = 'test_tool';
  readonly description = 'A test tool for verification';
  override readonly category = ToolCategory.OTHER;
  readonly parameters = [new ToolParameter({ name: 'message', type: 'string', description: 'Message to echo' })];

  protected run({ message }: ParameterValues) {
    return ToolResult.ok(message);
  }
}

/** validateParams of a tool with this one parameter. */
function validating(parameter: Omit<ToolParameterInit, 'description'>) {
  const tool = new SampleTool('sample', [{ description: 'A parameter', ...parameter }]);
  return (args?: ParameterValues) => tool.validateParams(args);
}

describe('BaseTool', () => {
  test('[B13] a concrete tool has what its class says', () => {
    const tool = new TestTool();
    expect(tool.name).toBe('test_tool');
    expect(tool.description).toBe('A test tool for verification');
    expect(tool.category).toBe(ToolCategory.OTHER);
    expect(tool.parameters).toHaveLength(1);
  });

  test('[B14] [B15] a required parameter must be there', () => {
    const validate = validating({ name: 'file_path', type: 'string' });
    expect(validate({ file_path: '/some/path' })).toEqual([true, null]);
    expect(validate()).toEqual([false, 'Missing required parameter: file_path']);
  });

  test.each<[string, Omit<ToolParameterInit, 'description'>, unknown[], [unknown, string][]]>([
    ['[B16] string', { name: 'name', type: 'string' }, ['hello'], [[123, 'Invalid type for name: expected string']]],
    [
      '[B17] integer',
      { name: 'count', type: 'integer' },
      [42, -1],
      [
        ['42', 'Invalid type for count: expected integer'],
        [3.14, 'Invalid type for count: expected integer'],
        [null, 'Invalid type for count: expected integer'],
      ],
    ],
    [
      '[B18] number',
      { name: 'value', type: 'number' },
      [42, 3.14],
      [
        ['3.14', 'Invalid type for value: expected number'],
        [Number.NaN, 'Invalid type for value: expected number'],
      ],
    ],
    [
      '[B19] boolean',
      { name: 'enabled', type: 'boolean' },
      [true, false],
      [['true', 'Invalid type for enabled: expected boolean']],
    ],
    [
      '[B20] array',
      { name: 'items', type: 'array' },
      [[1, 2, 3]],
      [
        ['[1, 2, 3]', 'Invalid type for items: expected array'],
        [{ length: 0 }, 'Invalid type for items: expected array'],
      ],
    ],
    [
      '[B21] object',
      { name: 'config', type: 'object' },
      [{ key: 'value' }],
      [
        ["{'key': 'value'}", 'Invalid type for config: expected object'],
        [[1], 'Invalid type for config: expected object'],
      ],
    ],
    [
      '[B22] enum',
      { name: 'format', type: 'string', enum: ['json', 'yaml', 'toml'] },
      ['json'],
      [
        ['xml', "Invalid value for format: must be one of ['json', 'yaml', 'toml']"],
        [7, 'Invalid type for format: expected string'],
      ],
    ],
    [
      '[B23] minimum',
      { name: 'timeout', type: 'integer', minimum: 1 },
      [1],
      [[0, 'Value for timeout is below minimum: 1']],
    ],
    [
      '[B24] maximum',
      { name: 'limit', type: 'integer', maximum: 1000 },
      [1000],
      [[1001, 'Value for limit exceeds maximum: 1000']],
    ],
    [
      '[B25] minimum length',
      { name: 'content', type: 'string', minLength: 1 },
      ['hello'],
      [['', 'Value for content is shorter than minimum length: 1']],
    ],
    [
      '[B26] maximum length',
      { name: 'name', type: 'string', maxLength: 50 },
      ['short', 'x'.repeat(50)],
      [['x'.repeat(51), 'Value for name exceeds maximum length: 50']],
    ],
  ])('%s is validated', (_, parameter, good, bad) => {
    const validate = validating(parameter);
    for (const value of good) expect(validate({ [parameter.name]: value })).toEqual([true, null]);
    for (const [value, sentence] of bad) expect(validate({ [parameter.name]: value })).toEqual([false, sentence]);
  });

  test('[B27] an optional parameter has its default when it is left out', async () => {
    const parameter = { name: 'timeout', type: 'integer', description: 'Seconds', default: 120 } as const;
    const result = await new SampleTool('sample', [parameter]).execute(HERE);
    expect(result.output).toEqual({ timeout: 120 });
  });

  test('what is missing is said before what is wrong', () => {
    const tool = new SampleTool('sample', [
      { name: 'count', type: 'integer', description: 'Count' },
      { name: 'path', type: 'string', description: 'Path' },
    ]);
    expect(tool.validateParams({ count: 'x' })).toEqual([false, 'Missing required parameter: path']);
  });

  test('an alias is accepted, one name is advertised', async () => {
    const path: ToolParameterInit = {
      name: 'path',
      type: 'string',
      description: 'Path',
      aliases: ['file_path', 'filePath'],
    };
    const tool = new SampleTool('sample', [path]);
    expect((await tool.execute(HERE, { filePath: 'a' })).output).toEqual({ path: 'a' });
    expect((await tool.execute(HERE, { file_path: 'b' })).output).toEqual({ path: 'b' });
    expect(Object.keys(tool.toOpenAISchema().function.parameters.properties as object)).toEqual(['path']);
    const both = await tool.execute(HERE, { path: 'c', file_path: 'd' });
    expect(both.output).toEqual({ path: 'c' });
    expect(both.warnings).toEqual(["Parameter 'file_path' was ignored: 'path' was given too."]);
  });

  test('an unknown parameter is a warning with a guess, and the model reads it', async () => {
    const result = await new EchoTool().execute(HERE, { message: 'hi', mesage: 'hello' });
    expect(result.output).toBe('hi');
    expect(result.warnings).toEqual(["Unknown parameter 'mesage' was ignored. Did you mean 'message'?"]);
    expect(result.text).toBe("hi\n[Note: Unknown parameter 'mesage' was ignored. Did you mean 'message'?]");
  });

  test('__proto__ among the arguments is just another unknown parameter', async () => {
    const result = await new EchoTool().execute(HERE, JSON.parse('{"message":"hi","__proto__":{"polluted":true}}'));
    expect(result.output).toBe('hi');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(result.warnings).toHaveLength(1);
  });
});

describe('executing a tool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-base-tool-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('[B28] succeeds with its output', async () => {
    const result = await new EchoTool().execute(HERE, { message: 'Hello' });
    expect(result.success).toBe(true);
    expect(result.output).toBe('Hello');
  });

  test('[B29] fails with the sentence of what is missing', async () => {
    const tool = new SampleTool('sample', [{ name: 'file_path', type: 'string', description: 'Path' }]);
    const result = await tool.execute(HERE);
    expect(result.success).toBe(false);
    expect(result.error?.message).toBe('Missing required parameter: file_path');
    expect(result.error?.code).toBe('INVALID_INPUT');
  });

  test('[B30] ends after its timeout, and the tool is told to stop', async () => {
    let told = false;
    class SlowTool extends SampleTool {
      protected override run(_: ParameterValues, context?: ToolContext) {
        return new Promise<ToolResult>((resolve) => {
          const timer = setTimeout(() => resolve(ToolResult.ok('late')), 5000);
          context?.signal.addEventListener('abort', () => {
            told = true;
            clearTimeout(timer);
          });
        });
      }
    }
    const started = performance.now();
    const result = await new SlowTool('SlowTool').execute({ ...HERE, timeout: 1 });
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain('timed out');
    expect(result.error?.code).toBe('TIMEOUT');
    expect(told).toBe(true);
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test('[B31] does nothing in a dry run but say what it would do', async () => {
    class WriteTool extends SampleTool {
      protected override run({ file_path, content }: ParameterValues) {
        writeFileSync(String(file_path), String(content));
        return ToolResult.ok('written');
      }
    }
    const tool = new WriteTool('WriteTool', [
      { name: 'file_path', type: 'string', description: 'Path' },
      { name: 'content', type: 'string', description: 'Content' },
    ]);
    const path = join(folder, 'foo');
    const result = await tool.execute({ ...HERE, dryRun: true }, { file_path: path, content: 'bar' });
    expect(result.success).toBe(true);
    expect(result.output).toMatch(/^\[Dry Run\]/);
    expect(result.output).toContain(path);
    expect(existsSync(path)).toBe(false);

    await tool.execute(HERE, { file_path: path, content: 'bar' });
    expect(existsSync(path)).toBe(true);
  });

  test.each([
    ['[B32] an Error', new Error('the disk is gone'), 'the disk is gone'],
    ['a string', 'the disk is gone', 'the disk is gone'],
    ['undefined', undefined, 'threw undefined'],
  ])('%s thrown by a tool becomes its failure', async (_, thrown, message) => {
    class ThrowingTool extends SampleTool {
      protected override run(): ToolResult {
        throw thrown;
      }
    }
    const result = await new ThrowingTool('thrower').execute(HERE);
    expect(result.success).toBe(false);
    expect(result.error?.message).toContain(message);
    expect(result.error?.code).toBe('EXECUTION_ERROR');
  });

  test('a tool may also return ok(value)', async () => {
    class PlainTool extends SampleTool {
      protected override run() {
        return ok('plain') as ToolResult;
      }
    }
    expect((await new PlainTool('plain').execute(HERE)).output).toBe('plain');
  });
});

describe('schemas of a tool', () => {
  const file_path: ToolParameterInit = { name: 'file_path', type: 'string', description: 'Absolute path to the file' };

  test('[B33] OpenAI, simple tool', () => {
    const tool = new SampleTool(
      'Read',
      [
        file_path,
        { name: 'offset', type: 'integer', required: false, description: 'Line number to start from' },
        { name: 'limit', type: 'integer', required: false, description: 'Maximum lines to read' },
      ],
      { description: 'Read contents of a file' },
    );
    expect(tool.toOpenAISchema()).toEqual({
      type: 'function',
      function: {
        name: 'Read',
        description: 'Read contents of a file',
        parameters: {
          type: 'object',
          properties: {
            file_path: { type: 'string', description: 'Absolute path to the file' },
            offset: { type: 'integer', description: 'Line number to start from' },
            limit: { type: 'integer', description: 'Maximum lines to read' },
          },
          required: ['file_path'],
        },
      },
    });
  });

  test('[B34] OpenAI, enum parameter', () => {
    const tool = new SampleTool('t', [{ name: 'format', type: 'string', description: 'F', enum: ['json', 'yaml'] }]);
    expect(tool.toOpenAISchema().function.parameters).toMatchObject({
      properties: { format: { type: 'string', enum: ['json', 'yaml'] } },
    });
  });

  test('[B35] OpenAI, numeric constraints', () => {
    const timeout = { name: 'timeout', type: 'integer', description: 'T', minimum: 1, maximum: 600 } as const;
    expect(new SampleTool('t', [timeout]).toOpenAISchema().function.parameters).toMatchObject({
      properties: { timeout: { type: 'integer', minimum: 1, maximum: 600 } },
    });
  });

  test('[B36] Anthropic, simple tool', () => {
    const tool = new SampleTool('Read', [file_path], { description: 'Read contents of a file' });
    expect(tool.toAnthropicSchema()).toEqual({
      name: 'Read',
      description: 'Read contents of a file',
      input_schema: {
        type: 'object',
        properties: { file_path: { type: 'string', description: 'Absolute path to the file' } },
        required: ['file_path'],
      },
    });
  });
});
