import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ToolError } from '../../src/kernel/error.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { ToolResult } from '../../src/kernel/tool/tool-result.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { BaseTool } from '../../src/runtime/registry/base-tool.ts';
import type { PlainTool } from '../../src/runtime/registry/plain-tool.ts';
import { INITIALIZE, openDoor, overPipe } from '../mcp/open-door.ts';
import { TestServer } from './test-server.ts';

const error = { code: 'QUOTA_EXCEEDED', message: 'Nothing is left. Try again tomorrow.', details: { left: 0 } };

const plain: PlainTool = {
  name: 'quota',
  description: 'Has a code of its own',
  inputSchema: z.object({}),
  requiresApproval: false,
  execute: () => ({ ok: false, error }),
};

class Quota extends BaseTool {
  readonly name = 'quota';
  readonly description = plain.description;
  readonly parameters = [];

  protected run() {
    return ToolResult.fail(error);
  }
}

/** A tool that throws instead of returning. */
function throwing(thrown: unknown) {
  return defineTool({
    name: 'quota',
    description: plain.description,
    input: z.object({}),
    access: () => [],
    run() {
      throw thrown;
    },
  });
}

const { message, ...more } = error;

describe.each([
  ['a plain object returns', plain],
  ['a class returns', new Quota()],
  ['a tool throws as a result', throwing({ ok: false, error })],
  ['a tool throws as a ToolError', throwing(new ToolError('quota', message, more))],
])('[E19] a code of its own that %s', (_how, tool) => {
  test('arrives as written in the library', async () => {
    const { call } = createToolwright({ tools: [tool] });
    expect(JSON.parse(JSON.stringify((await call('quota', {})).error))).toEqual({ ...error, toolName: 'quota' });
  });

  test('arrives as written over HTTP', async () => {
    await using server = await TestServer.start({ tools: [tool] });
    await server.post('/v1/rules', { rule: 'quota', verdict: 'allow' });
    const { status, body } = await server.post('/v1/calls', { tool: 'quota', args: {} });
    expect([status, body.state, body.outcome.error]).toMatchObject([200, 'failed', error]);
    expect((await server.get(`/v1/calls/${body.id}`)).body.outcome.error).toMatchObject(error);
  });

  test('arrives as written over MCP', async () => {
    const pipe = overPipe(openDoor({ tools: [tool] }).door);
    pipe.send(INITIALIZE);
    await vi.waitUntil(() => pipe.received.length === 1, 10_000);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    pipe.send({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'quota', arguments: {} } });
    await vi.waitUntil(() => pipe.received.some(({ id }) => id === 'call'), 10_000);
    const result = pipe.received.find(({ id }) => id === 'call')?.['result'] as Record<string, unknown>;
    expect(result).toMatchObject({ isError: true, _meta: { 'toolwright/error': error } });
    await pipe.close();
  });
});
