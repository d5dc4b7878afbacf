// LangChain with Toolwright's tools. The model here is a scripted one; give `bindTools` to any other.
import { AIMessageChunk } from '@langchain/core/messages';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { langChainTools } from 'toolwright/langchain';
import { context, executor, report } from './notes.ts';

const tools = await langChainTools(executor, context);
const call = { name: 'count_words', args: { text: 'the quick brown fox' }, id: 'call_1', type: 'tool_call' as const };
const scripted = new FakeStreamingChatModel({ chunks: [new AIMessageChunk({ content: '', tool_calls: [call] })] });
const message = (await scripted.bindTools(tools).invoke('How many words?')) as AIMessageChunk;
for (const asked of message.tool_calls ?? []) {
  const tool = tools.find(({ name }) => name === asked.name);
  console.log((await tool?.invoke({ ...asked, type: 'tool_call' }))?.content);
}
report();
