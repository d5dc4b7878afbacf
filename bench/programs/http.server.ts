// One server of the benchmark `http`, as a process of its own: ours, or the bare route it is compared with.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import { openTokens } from '../../src/app/admin/tokens.ts';
import { openHost } from '../../src/app/open-host.ts';
import { serve } from '../../src/http/serve.ts';
import type { Ledger } from '../../src/kernel/call/ledger.ts';
import { ok, type Result } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';
import { startCall } from '../../src/protocol/calls.ts';
import { openStore } from '../../src/storage/open.ts';

export type Order = { do: 'rss' } | { do: 'emit'; session: string; count: number; perSecond: number; bytes?: number };
export type Said = { url: string; token: string } | { rss: number } | { emitted: number };

const [, , kind = 'ours', folder = '', workspace = ''] = process.argv;
const { url, token, ledger } = kind === 'ours' ? await ours() : await bare();
say({ url, token });
process.on('message', (order: Order) => void obey(order));
// Nobody is left to serve when the benchmark has ended.
process.on('disconnect', () => process.exit(0));

async function obey(order: Order): Promise<void> {
  if (order.do === 'rss') {
    globalThis.gc?.();
    return say({ rss: process.memoryUsage.rss() });
  }
  const { session, count, perSecond, bytes } = order;
  const text = bytes === undefined ? 'something happened' : 'x'.repeat(bytes);
  for (let sent = 0; sent < count; sent++) {
    const data = { messageId: `m${sent}`, role: 'notice', text } as const;
    await ledger.note(session, { type: 'message.added', callId: null, at: Date.now(), data });
    await delay(1000 / perSecond);
  }
  say({ emitted: count });
}

function say(said: Said): void {
  process.send?.(said);
}

async function ours(): Promise<{ url: string; token: string; ledger: Ledger }> {
  const noop = defineTool({
    name: 'noop',
    description: 'Does nothing.',
    effect: 'pure',
    input: z.object({ n: z.number() }),
    access: () => [],
    run: ({ n }) => ok(n),
  });
  const env = { PATH: process.env.PATH ?? '' };
  const host = must(await openHost({ workspaces: [workspace], env, home: folder, tools: [noop] }));
  const tokens = must(openTokens(host.stateDir));
  const running = must(await serve(host, tokens, { port: 0, mostStreamsPerToken: 2000 }));
  return { url: running.url, token: tokens.own, ledger: host.ledger };
}

/** Validates the same body and inserts one row through the same group commit. */
async function bare(): Promise<{ url: string; token: string; ledger: Ledger }> {
  const { store } = must(await openStore({ directory: folder }));
  const app = new Hono();
  app.post('/v1/calls', async (c) => {
    const body = startCall.safeParse(await c.req.json());
    if (!body.success) return c.json({ error: 'misfit' }, 400);
    const data = { messageId: 'm', role: 'notice', text: JSON.stringify(body.data) } as const;
    const { seq } = await store.note('bare', { type: 'message.added', callId: null, at: Date.now(), data });
    return c.json({ seq });
  });
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: '', ledger: store };
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
