// The Anthropic library with Toolwright's tools: ANTHROPIC_API_KEY=… node --import tsx examples/frameworks/anthropic.ts
// ANTHROPIC_BASE_URL and ANTHROPIC_MODEL choose another endpoint that speaks the same.
import Anthropic from '@anthropic-ai/sdk';
import { answerToolUses, anthropicTools } from 'toolwright/anthropic';
import { context, executor, report } from './notes.ts';

const client = new Anthropic();
const model = process.env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-4-6';
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How many words are in "the quick brown fox"?' }];
for (let turn = 0; turn < 5; turn++) {
  const tools = anthropicTools(executor);
  const { content } = await client.messages.create({ model, max_tokens: 1000, messages, tools });
  messages.push({ role: 'assistant', content });
  const answer = await answerToolUses(executor, context, content);
  if (answer === undefined) {
    for (const block of content) if (block.type === 'text') console.log(block.text);
    break;
  }
  messages.push(answer);
}
report();
