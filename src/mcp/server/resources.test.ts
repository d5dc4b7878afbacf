import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDoor, overHttp } from '../../../test/mcp/open-door.ts';
import type { ApprovalRequest, Approver } from '../../kernel/ports.ts';
import { ok } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { ApprovalWay } from './approver.ts';
import type { Resources } from './resources.ts';

const look = defineTool({
  name: 'look',
  description: 'Look at something',
  effect: 'pure',
  input: z.object({ at: z.string() }),
  access: ({ at }) => [{ kind: 'fs.read', path: at }],
  approval: () => 'Looks are precious.',
  run: ({ at }) => ok(`saw ${at}`),
});

const resources: Resources = {
  templates: [],
  list: () => ({
    tool: look.name,
    args: { at: 'all' },
    toAnswer: (value) => [{ uri: 'seen:///all', name: String(value) }],
  }),
  read: (uri) => ({
    tool: look.name,
    args: { at: uri },
    toAnswer: (value) => [{ uri, text: String(value) }],
  }),
};

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A client of a server whose inbox is never answered; `asked` and `dropped` are the questions the inbox got. */
async function open(era: 'auto' | 'legacy', way: ApprovalWay, options: ClientOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const dropped: string[] = [];
  const inbox: Approver = {
    ask: (request, signal) => {
      asked.push(request);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          dropped.push(request.id);
          reject(new Error('dropped'));
        });
      });
    },
  };
  const { door, executor } = openDoor({ tools: [look], way, inbox, more: { resources } });
  const served = await overHttp(door);
  closing.push(served.close);
  const client = new Client({ name: 'tester', version: '1' }, { versionNegotiation: { mode: era }, ...options });
  await client.connect(new StreamableHTTPClientTransport(served.url));
  closing.push(() => client.close());
  const states = async () => (await executor.history()).items.map(({ state }) => state);
  return { client, asked, dropped, states, executor };
}

const FORMS = { capabilities: { elicitation: { form: {} } } };
const ONE = { uri: 'seen:///one' };

describe.each(['auto', 'legacy'] as const)('a resource that is asked about, for a client of %s', (era) => {
  test.each(['any', 'client'] as const)("is read after a yes in the client's form, with %s", async (way) => {
    const { client, executor } = await open(era, way, FORMS);
    const seen: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      seen.push(params.message);
      return { action: 'accept', content: { decision: 'allow' } };
    });
    expect((await client.readResource(ONE)).contents).toEqual([{ uri: ONE.uri, text: `saw ${ONE.uri}` }]);
    expect(seen).toEqual([expect.stringContaining('Looks are precious.')]);
    const [call] = (await executor.history()).items;
    expect(call).toMatchObject({ tool: 'look', agent: 'tester', state: 'succeeded' });
  });

  test('is refused where nobody may be asked, and our inbox does not hear of it', async () => {
    const { client, asked } = await open(era, 'nobody', FORMS);
    await expect(client.readResource(ONE)).rejects.toThrow(/Looks are precious.*Allow it with a rule/);
    await expect(client.listResources()).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  test('is refused where only a form would count and the client has none', async () => {
    const { client, asked } = await open(era, 'client');
    await expect(client.readResource(ONE)).rejects.toThrow('no person can approve here');
    await expect(client.listResources()).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  test.each(['read', 'list'] as const)('a cancelled %s ends the call and its question', async (kind) => {
    const { client, asked, dropped, states } = await open(era, 'inbox');
    const { signal, abort } = stoppable();
    const reading = kind === 'read' ? client.readResource(ONE, { signal }) : client.listResources({}, { signal });
    const over = expect(reading).rejects.toThrow();
    await until(() => asked.length === 1);
    abort();
    await over;
    await until(() => dropped.length === 1);
    await until(async () => (await states())[0] === 'cancelled');
  });
});

test('what a client left unanswered ends when it goes', async () => {
  const { client, asked, dropped, states } = await open('legacy', 'inbox');
  const over = expect(client.readResource(ONE)).rejects.toThrow();
  await until(() => asked.length === 1);
  await (client.transport as StreamableHTTPClientTransport).terminateSession();
  await client.close();
  await over;
  await until(() => dropped.length === 1);
  await until(async () => (await states())[0] === 'cancelled');
});

function stoppable(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it did not come');
    await sleep(20);
  }
}
