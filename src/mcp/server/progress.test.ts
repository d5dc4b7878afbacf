import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { INITIALIZE, openDoor, overPipe } from '../../../test/mcp/open-door.ts';
import { ok } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';

const talk = defineTool({
  name: 'talk',
  description: 'Say a lot',
  input: z.object({}),
  access: () => [],
  run: async (_input, ctx) => {
    for (let count = 0; count < 5; count++) ctx.progress({ message: `step ${count}` });
    for (const percent of [0, 40, 30]) ctx.progress({ percent });
    ctx.progress({ output: 'first\n' });
    await sleep(50);
    ctx.progress({ output: 'last\n' });
    return ok('said');
  },
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('progress grows with every message, and none comes after the answer', async () => {
  const { send, received, close } = overPipe(openDoor({ tools: [talk] }).door);
  closing.push(close);
  send(INITIALIZE);
  await vi.waitUntil(() => received.length === 1, 10_000);
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const params = { name: 'talk', arguments: {}, _meta: { progressToken: 'p' } };
  send({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params });
  await vi.waitUntil(() => received.some(({ id }) => id === 'call'), 10_000);
  await sleep(300);
  expect(received.at(-1)).toMatchObject({ id: 'call', result: {} });
  const told = received.flatMap(({ params }) => (params === undefined ? [] : [Number(params['progress'])]));
  expect(told.length).toBeGreaterThanOrEqual(9);
  expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
});
