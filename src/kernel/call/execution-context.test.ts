import { describe, expect, test } from 'vitest';
import { ToolCategory } from '../tool/category.ts';
import { ExecutionContext } from './execution-context.ts';

describe('ExecutionContext', () => {
  test('[B10] has defaults for all but the working directory', () => {
    const context = new ExecutionContext({ workingDir: '/home/user/project' });
    expect({ ...context }).toEqual({
      workingDir: '/home/user/project',
      sessionId: null,
      agentId: null,
      dryRun: false,
      timeout: 120,
      maxOutputSize: 100_000,
      metadata: {},
    });
  });

  test('[B11] takes every option', () => {
    const given = {
      workingDir: '/home/user/project',
      sessionId: 'sess_abc123',
      agentId: 'agent_001',
      dryRun: true,
      timeout: 60,
      maxOutputSize: 50_000,
      metadata: { branch: 'main' },
    };
    expect({ ...new ExecutionContext(given) }).toEqual(given);
  });

  test.each([
    [{ workingDir: '' }, /workingDir must be a non-empty string/],
    [{ workingDir: '.', timeout: 0 }, /timeout must be a number of seconds above 0, got 0/],
    [{ workingDir: '.', timeout: Number.NaN }, /got NaN/],
    [{ workingDir: '.', maxOutputSize: -1 }, /maxOutputSize must be a number of characters above 0/],
  ])('refuses what makes no sense: %j', (wrong, message) => {
    expect(() => new ExecutionContext(wrong)).toThrow(message);
  });
});

test('[B12] the categories are defined with their values', () => {
  expect(ToolCategory).toEqual({
    FILE: 'file',
    EXECUTION: 'execution',
    WEB: 'web',
    TASK: 'task',
    NOTEBOOK: 'notebook',
    MCP: 'mcp',
    OTHER: 'other',
  });
});
