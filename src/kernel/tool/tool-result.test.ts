import { describe, expect, test } from 'vitest';
import { messageOf, ToolError } from '../error.ts';
import { failed, ToolResult } from './tool-result.ts';

describe('ToolResult', () => {
  test('[B05] a success has its output and no error', () => {
    const result = ToolResult.ok('file content here');
    expect(result.success).toBe(true);
    expect(result.output).toBe('file content here');
    expect(result.error).toBeNull();
    expect(result.ok).toBe(true);
    expect(result.value).toBe('file content here');
  });

  test('[B06] a success carries metadata', () => {
    const result = ToolResult.ok('output', { lines: 100, bytes: 5000 });
    expect(result.success).toBe(true);
    expect(result.output).toBe('output');
    expect(result.metadata).toEqual({ lines: 100, bytes: 5000 });
  });

  test('[B07] a failure has its error and no output', () => {
    const result = ToolResult.fail('File not found: /foo/bar');
    expect(result.success).toBe(false);
    expect(result.error.message).toBe('File not found: /foo/bar');
    expect(result.error).toBeInstanceOf(ToolError);
    expect(result.output).toBeNull();
  });

  test('[B08] a failure carries metadata', () => {
    const result = ToolResult.fail('Permission denied', { path: '/etc/shadow', errno: 13 });
    expect(result.success).toBe(false);
    expect(result.error.message).toBe('Permission denied');
    expect(result.metadata).toEqual({ path: '/etc/shadow', errno: 13 });
  });

  test('[B09] a result reads as its output, or as its error', () => {
    expect(ToolResult.ok('Hello World').toDisplay()).toBe('Hello World');
    expect(ToolResult.fail('Something went wrong').toDisplay()).toBe('Error: Something went wrong');
    expect(ToolResult.ok({ lines: 2 }).toDisplay()).toBe('{\n  "lines": 2\n}');
  });

  test('[E19] a result goes into JSON as { ok, value } or { ok, error: { code, message, details } }', () => {
    expect(JSON.parse(JSON.stringify(ToolResult.ok({ size: 3 })))).toMatchObject({ ok: true, value: { size: 3 } });
    const failure = failed('read_file', { code: 'FILE_NOT_FOUND', message: 'No a.ts', details: { path: 'a.ts' } }, {});
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({
      ok: false,
      error: { code: 'FILE_NOT_FOUND', message: 'No a.ts', details: { path: 'a.ts' } },
    });
  });
});

describe('ToolError', () => {
  test('[B65] a ToolError knows its tool and says so', () => {
    const error = new ToolError('Read', 'File not found');
    expect(error.toolName).toBe('Read');
    expect(error.message).toBe('File not found');
    expect(String(error)).toBe("Tool 'Read' error: File not found");
    expect(error).toBeInstanceOf(Error);
  });

  test('keeps its message in JSON', () => {
    const error = new ToolError('Read', 'No such file', { code: 'FILE_NOT_FOUND' });
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: { code: 'FILE_NOT_FOUND', message: 'No such file', toolName: 'Read' },
    });
  });

  test.each<[unknown, string]>([
    [new Error('boom'), 'boom'],
    [new RangeError(), 'RangeError'],
    ['just text', 'just text'],
    ['', 'threw ""'],
    [undefined, 'threw undefined'],
    [null, 'threw null'],
    [{ why: 1 }, 'threw {"why":1}'],
    [1n, 'threw a bigint'],
  ])('messageOf says something about anything thrown (%#)', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });
});
