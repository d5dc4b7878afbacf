import { afterEach, expect, test, vi } from 'vitest';
import { INITIALIZE, openDoor, overPipe } from '../../../test/mcp/open-door.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test.each([
  ['parameters that are a list', { jsonrpc: '2.0', id: 7, method: 'tools/list', params: [] }, 7],
  [
    'a progress token that is an object',
    { jsonrpc: '2.0', id: 'a', method: 'tools/list', params: { _meta: { progressToken: {} } } },
    'a',
  ],
  ['no version of the protocol', { id: 0, method: 'tools/list' }, 0],
  ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'tools/list' }, null],
  ['an answer to nothing that was asked', { id: 7, result: {} }, null],
])('a line with %s is refused under the id that its sender waits for', async (_name, line, id) => {
  const { send, received, close } = overPipe(openDoor({ tools: [] }).door);
  closing.push(close);
  send(INITIALIZE);
  await vi.waitUntil(() => received.length === 1, 10_000);
  send(line);
  await vi.waitUntil(() => received.length === 2, 10_000);
  expect(received[1]).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32600 } });
});
