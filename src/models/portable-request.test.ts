import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AssistantMessage, type Message, type MessagePart, NO_USAGE } from '../kernel/call/message.ts';
import { historyProblems } from '../testing/legal-history.ts';
import { type ModelServer, modelServer } from '../testing/model-server.ts';
import { anthropicModel } from './anthropic.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';

const HALF = '😀'.slice(0, 1);
const WIRES = { anthropicModel, openaiChatModel, openaiResponsesModel };
let server: ModelServer;
beforeAll(async () => {
  server = await modelServer(() => ({ status: 500 }));
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each(Object.entries(WIRES))('%s', (_, createModel) => {
  /** Returns the request for a conversation in which the model said this. */
  async function sent(parts: readonly MessagePart[], result = 'ok') {
    const model = createModel({ model: 'm', baseUrl: server.url, maxTokens: 100, window: 1000, tries: 1 });
    const said: AssistantMessage = { role: 'assistant', parts, model: 'm', stop: { reason: 'calls' }, usage: NO_USAGE };
    const results = parts.flatMap((part) =>
      part.type === 'call' ? [{ id: part.id, name: part.name, callId: null, text: result, isError: false }] : [],
    );
    const messages: Message[] = [{ role: 'user', text: 'Go', from: 'person' }, said, { role: 'results', results }];
    await model.turn({ system: `Be ${HALF} kind.`, tools: [], messages });
    const { path, body } = server.requests.at(-1) ?? {};
    return { body, problems: historyProblems(path ?? '', body) };
  }

  test.each(['functions.read_file', '', 'rm -rf /', 'n'.repeat(200), '读取', HALF])(
    'the name %j that a model made up does not end the conversation',
    async (name) => {
      const { body, problems } = await sent([{ type: 'call', id: 'a', name, args: {} }]);
      expect(problems).toEqual([]);
      expect(JSON.stringify(body)).toContain('"ok"');
    },
  );

  test.each(['functions.read_file:0', 'i'.repeat(300)])('nor does the id %j of another endpoint', async (id) => {
    const calls = [id, `${id}2`].map((one) => ({ type: 'call' as const, id: one, name: 'note', args: {} }));
    expect((await sent(calls)).problems).toEqual([]);
  });

  test('nor does half a character, wherever it stands', async () => {
    const args = { [HALF]: [HALF, { text: HALF }] };
    const parts = [
      { type: 'text', text: HALF },
      { type: 'call', id: 'a', name: 'note', args },
    ] as const;
    const { body, problems } = await sent(parts, `cut ${HALF}`);
    expect(problems).toEqual([]);
    expect(JSON.stringify(body)).toContain('cut \ufffd');
  });

  test('what is lawful goes as it is', async () => {
    const { body } = await sent([{ type: 'call', id: 'toolu_01-x', name: 'srv__get-Image', args: { text: '😀' } }]);
    const text = JSON.stringify(body);
    for (const one of ['toolu_01-x', 'srv__get-Image', '😀']) expect(text).toContain(one);
  });
});
