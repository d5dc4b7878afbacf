import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openServers, type RemoteOptions, rawServer, type WithServers } from '../../../test/mcp/remote.ts';

let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolwright-hostile-'));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

async function withServer(
  server: Parameters<typeof rawServer>[1],
  options: Omit<RemoteOptions, 'stateDir'> = { allow: ['evil__t'] },
): Promise<WithServers> {
  const opened = await openServers({ evil: rawServer(folder, server) }, { stateDir: folder, ...options });
  closing.push(() => opened.remote.close());
  return opened;
}

describe('a pattern that never ends', () => {
  const endless = { type: 'string', pattern: '^(a+)+$' };
  const text = `${'a'.repeat(40)}!`;

  test('in what a tool takes is given up, and the call refused', async () => {
    const tools = [{ name: 't', inputSchema: { type: 'object', properties: { x: endless } } }];
    const { call } = await withServer({ tools });
    expect((await call('evil__t', { x: 'aaa' })).text).toBe('done');
    expect((await call('evil__t', { x: 'b' })).error?.message).toContain('must match pattern');
    expect((await call('evil__t', { x: text })).error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('takes too long; try shorter texts'),
    });
  });

  test('in what a tool returns is given up too', async () => {
    const outputSchema = { type: 'object', properties: { y: endless } };
    const tools = [{ name: 't', inputSchema: { type: 'object' }, outputSchema }];
    const result = '({ content: [], structuredContent: { y: params.arguments.y } })';
    const { call } = await withServer({ tools, result });
    expect((await call('evil__t', { y: 'aaa' })).value).toEqual({ y: 'aaa' });
    expect((await call('evil__t', { y: text })).error).toMatchObject({
      code: 'EXECUTION_ERROR',
      message: expect.stringContaining('the check takes too long'),
    });
  });
});
