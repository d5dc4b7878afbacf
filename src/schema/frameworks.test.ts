import Anthropic from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import { AIMessageChunk, ToolMessage } from '@langchain/core/messages';
import { StructuredTool } from '@langchain/core/tools';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fail, ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { readTool } from '../testing/sample-tools.ts';
import { aiSdkTools } from './ai-sdk.ts';
import { answerToolUses } from './anthropic.ts';
import { langChainTools } from './langchain.ts';
import { answerFunctionCalls, answerToolCalls } from './openai.ts';

const add = defineTool({
  name: 'add',
  description: 'Add two numbers',
  input: z.object({ a: z.number(), b: z.number().int().default(1), note: z.enum(['x', 'y']).optional() }),
  output: z.object({ sum: z.number() }),
  access: () => [],
  run: ({ a, b }) => (a < 0 ? fail('INVALID_INPUT', 'Only positive numbers.') : ok({ sum: a + b })),
  render: ({ sum }) => `The sum is ${sum}.`,
});

const { executor, context, call } = createToolwright({ tools: [add, readTool()] });
const mock = new LLMock({ port: 0, host: '127.0.0.1' });

beforeAll(async () => {
  mock.onMessage('add them', { toolCalls: [{ name: 'add', arguments: '{"a":2,"b":3}', id: 'call_1' }] });
  await mock.start();
});
afterAll(() => mock.stop());

describe('the OpenAI library', () => {
  const client = () => new OpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'none' });

  test('takes our chat tools, and what the model asks for runs', async () => {
    const tools: OpenAI.ChatCompletionTool[] = executor.getAllSchemas('openai');
    const completion = await client().chat.completions.create({
      model: 'gpt-test',
      messages: [{ role: 'user', content: 'add them' }],
      tools,
    });
    const asked = completion.choices[0]?.message.tool_calls?.[0];
    if (asked?.type !== 'function') throw new Error('the model did not ask for a function');
    expect((await call(asked.function.name, JSON.parse(asked.function.arguments))).text).toBe('The sum is 5.');
    expect(sentTools()).toHaveLength(2);
  });

  test('takes our Responses tools, and what the model asks for runs', async () => {
    const tools: OpenAI.Responses.FunctionTool[] = executor.getAllSchemas('openai-responses');
    const response = await client().responses.create({ model: 'gpt-test', input: 'add them', tools });
    const asked = response.output.find((item) => item.type === 'function_call');
    expect(asked?.name).toBe('add');
    expect((await call('add', JSON.parse(asked?.arguments ?? '{}'))).text).toBe('The sum is 5.');
  });
});

describe('the Anthropic library', () => {
  test('takes our tools, and what the model asks for runs', async () => {
    const client = new Anthropic({ baseURL: mock.url, apiKey: 'none' });
    const tools: Anthropic.Tool[] = executor.getAllSchemas('anthropic');
    const message = await client.messages.create({
      model: 'claude-test',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'add them' }],
      tools,
    });
    const asked = message.content.find((block) => block.type === 'tool_use');
    expect(asked?.name).toBe('add');
    expect((await call('add', asked?.input)).text).toBe('The sum is 5.');
    expect(sentTools()).toHaveLength(2);
  });
});

test('names of calls that an endpoint gives twice, or leaves empty, are not taken for the same call', async () => {
  let ran = 0;
  const count = defineTool({
    name: 'count',
    description: 'Count',
    input: z.object({}),
    access: () => [],
    run: () => ok(++ran),
  });
  const counting = createToolwright({ tools: [count] });
  const [host, here] = [counting.executor, counting.context];
  const named = (id: string) => ({ id, type: 'function', function: { name: 'count', arguments: '{}' } }) as const;
  const said = async (...ids: string[]) =>
    (await answerToolCalls(host, here, ids.map(named))).map(({ content }) => content);
  expect([await said('count:0'), await said('count:0'), await said('', '')]).toEqual([['1'], ['2'], ['3', '4']]);
  const item = { type: 'function_call', call_id: 'count:0', name: 'count', arguments: '{}' } as const;
  expect(await answerFunctionCalls(host, here, [item])).toMatchObject([{ call_id: 'count:0', output: '5' }]);
  const block = { type: 'tool_use', id: 'count:0', name: 'count', input: {}, caller: { type: 'direct' } } as const;
  expect(await answerToolUses(host, here, [block])).toMatchObject({
    content: [{ tool_use_id: 'count:0', content: '6' }],
  });
});

describe('LangChain', () => {
  test('[B37] a BaseTool becomes a structured tool that a model can be bound to and that runs', async () => {
    const read = readTool();
    const tool = (await read.toLangChainTool()) as unknown as StructuredTool;
    expect(tool).toBeInstanceOf(StructuredTool);
    expect(tool.name).toBe('Read');
    expect(tool.description).toBe(read.description);
    const asking = new AIMessageChunk({
      content: '',
      tool_calls: [{ name: 'Read', args: { file_path: '/a' }, id: 'call_1', type: 'tool_call' }],
    });
    const model = new FakeStreamingChatModel({ chunks: [asking] }).bindTools([tool]);
    const answer = (await model.invoke('read /a')) as AIMessageChunk;
    const [asked] = answer.tool_calls ?? [];
    if (asked === undefined) throw new Error('the model did not ask for a tool');
    const message = await tool.invoke({ ...asked, type: 'tool_call' as const });
    expect(message).toBeInstanceOf(ToolMessage);
    expect(JSON.parse((message as ToolMessage).content as string)).toEqual({ file_path: '/a' });
    expect(await tool.invoke({ file_path: '/b' })).toContain('/b');
  });

  test('every offered tool runs through the executor: it is recorded, and a failure is thrown', async () => {
    executor.clearExecutions();
    const [tool] = await langChainTools(executor, context);
    expect(await tool?.invoke({ a: 1 })).toBe('The sum is 2.');
    await expect(tool?.invoke({ a: -1 })).rejects.toThrow('Only positive numbers.');
    expect(executor.getExecutions().map(({ state }) => state)).toEqual(['succeeded', 'failed']);
    await expect(tool?.invoke({ a: 'one' })).rejects.toThrow();
  });
});

describe('the Vercel AI SDK', () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  /** A model that calls `add` with this input, then repeats the result. */
  function asking(input: string) {
    return new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const told = prompt.findLast(({ role }) => role === 'tool');
        if (told === undefined) {
          const content = [{ type: 'tool-call' as const, toolCallId: 'call_1', toolName: 'add', input }];
          return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
        }
        const content = [{ type: 'text' as const, text: JSON.stringify(told.content) }];
        return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
      },
    });
  }

  test('runs our tools in its own loop', async () => {
    const tools = await aiSdkTools(executor, context);
    const { text } = await generateText({
      model: asking('{"a":2,"b":3}'),
      prompt: 'add',
      tools,
      stopWhen: stepCountIs(2),
    });
    expect(text).toContain('The sum is 5.');
  });

  test('tells its model of a failure', async () => {
    const tools = await aiSdkTools(executor, context);
    const { text } = await generateText({ model: asking('{"a":-1}'), prompt: 'add', tools, stopWhen: stepCountIs(2) });
    expect(text).toContain('Only positive numbers.');
  });
});

function sentTools(): unknown[] {
  const body = mock.getRequests().at(-1)?.body as { tools?: unknown[] } | undefined;
  return body?.tools ?? [];
}
