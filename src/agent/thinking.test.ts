import { afterAll, beforeAll, expect, test } from 'vitest';
import { openaiResponsesModel } from '../models/openai-responses.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { MemoryStore } from '../runtime/memory/memory-store.ts';
import { hideInStore } from '../secrets/hide-in-store.ts';
import { createHider } from '../secrets/hide-secrets.ts';
import { MemoryVault } from '../secrets/vault.ts';
import { type ModelServer, modelServer } from '../testing/model-server.ts';
import { createAgent } from './create-agent.ts';

const SHAPE = `sk-${'A1b2'.repeat(8)}`;
const KNOWN = 'correct horse battery';
let reasoning: object;
let server: ModelServer;
beforeAll(async () => {
  server = await modelServer(() => ({ chunks: [answer()] }));
});
afterAll(() => server[Symbol.asyncDispose]());

/** A turn that thinks and then says something. */
function answer(): string {
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Done.' }] };
  const events = [
    ...[reasoning, message].map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
    { type: 'response.completed', response: { status: 'completed', usage: {} } },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Returns the thinking that another process sends after it was recorded, and the record. */
async function takenUp(block: object): Promise<{ sent: unknown; record: string }> {
  reasoning = block;
  const plain = new MemoryStore();
  for (const text of ['Go', 'Go on']) {
    const store = hideInStore(plain, createHider([KNOWN]), new MemoryVault());
    const { executor, context } = createToolwright({ tools: [], store });
    const model = openaiResponsesModel({ model: 'm', baseUrl: server.url, maxTokens: 100, window: 100_000, tries: 1 });
    const outcome = await createAgent({ model, executor, store, context }).run('s1', text);
    expect(outcome).toMatchObject({ ok: true, value: { reason: 'done' } });
  }
  const input = server.requests.at(-1)?.body.input as { type?: string }[];
  return { sent: input.find(({ type }) => type === 'reasoning'), record: JSON.stringify(plain.events('s1')) };
}

test('what a provider encrypted comes back to it unchanged, whatever it looks like', async () => {
  const block = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: `gAAA-${SHAPE}_x` };
  expect((await takenUp(block)).sent).toEqual(block);
});

test('thinking in clear words with a secret in it is recorded without, and not sent back', async () => {
  const summary = [{ type: 'summary_text', text: `The key is ${SHAPE}.` }];
  const { sent, record } = await takenUp({ type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'abc' });
  expect(sent).toBeUndefined();
  expect(record).not.toContain(SHAPE);
});

test('thinking about what was hidden elsewhere stays', async () => {
  const summary = [{ type: 'summary_text', text: 'It says [redacted].' }];
  const block = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'abc' };
  expect((await takenUp(block)).sent).toEqual(block);
});

test('a value that is known to be secret is in no record, not even there', async () => {
  const { sent, record } = await takenUp({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: KNOWN });
  expect(sent).toBeUndefined();
  expect(record).not.toContain(KNOWN);
});
