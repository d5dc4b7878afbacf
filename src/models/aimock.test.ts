import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '../kernel/call/message.ts';
import { historyProblems } from '../testing/legal-history.ts';
import { anthropicModel } from './anthropic.ts';
import { openaiChatModel } from './openai-chat.ts';
import { openaiResponsesModel } from './openai-responses.ts';

// A mock server by other authors, so that our readers and our own fixtures cannot share a mistake.
const mock = new LLMock({ port: 0, host: '127.0.0.1' });
beforeAll(() => mock.start());
afterAll(() => mock.stop());

const PROVIDERS = {
  anthropic: (url: string) => anthropicModel({ ...options, baseUrl: url }),
  'openai responses': (url: string) => openaiResponsesModel({ ...options, baseUrl: `${url}/v1` }),
  'openai chat': (url: string) => openaiChatModel({ ...options, baseUrl: `${url}/v1` }),
};
const options = { model: 'any-model', key: 'k-1', maxTokens: 1000, window: 100_000, retryDelayMs: 1 };
const tools = [{ name: 'look', description: 'Looks', schema: { type: 'object' as const } }];

test.each(Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[])(
  '%s: two parallel calls and the turn after their results',
  async (provider) => {
    mock.reset();
    mock.addFixture({
      match: { userMessage: 'Look twice', hasToolResult: false },
      response: {
        toolCalls: [
          { name: 'look', arguments: '{"at":"本地"}' },
          { name: 'look', arguments: '{"at":"b"}' },
        ],
      },
    });
    mock.addFixture({ match: { userMessage: 'Look twice', hasToolResult: true }, response: { content: '好的。' } });
    const model = PROVIDERS[provider](mock.url);
    const asked: Message = { role: 'user', text: 'Look twice', from: 'person' };
    const one = await model.turn({ system: '', tools, messages: [asked] });
    if (!one.ok) throw new Error(one.error.message);
    const calls = one.value.parts.flatMap((part) => (part.type === 'call' ? [part] : []));
    expect(calls.map(({ args }) => args)).toEqual([{ at: '本地' }, { at: 'b' }]);
    const results = calls.map(({ id, name }) => ({ id, name, callId: null, text: 'seen', isError: false }));
    const two = await model.turn({ system: '', tools, messages: [asked, one.value, { role: 'results', results }] });
    expect(two.ok && two.value.parts.at(-1)).toEqual({ type: 'text', text: '好的。' });
    expect(two.ok && two.value.stop).toEqual({ reason: 'end' });
    // The mock keeps requests in the shape of a chat and takes a list of items apart, so that format is checked
    // elsewhere.
    if (provider === 'openai responses') return;
    const problems = mock.getRequests().flatMap(({ body }) => historyProblems('/chat/completions', body));
    expect(problems).toEqual([]);
  },
);
