// The Vercel AI SDK with Toolwright's tools. The model here is a scripted one; give `tools` to any other.
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { aiSdkTools } from 'toolwright/ai-sdk';
import { context, executor, report } from './notes.ts';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const input = JSON.stringify({ text: 'the quick brown fox' });
const scripted = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const isTold = prompt.some(({ role }) => role === 'tool');
    const content = isTold
      ? [{ type: 'text' as const, text: 'It has four words.' }]
      : [{ type: 'tool-call' as const, toolCallId: 'call_1', toolName: 'count_words', input }];
    const unified = isTold ? ('stop' as const) : ('tool-calls' as const);
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
  },
});
const tools = await aiSdkTools(executor, context);
const { text } = await generateText({ model: scripted, prompt: 'How many words?', tools, stopWhen: stepCountIs(3) });
console.log(text);
report();
