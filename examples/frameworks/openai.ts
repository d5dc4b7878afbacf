// The openai library with Toolwright's tools: OPENAI_API_KEY=… node --import tsx examples/frameworks/openai.ts
// OPENAI_BASE_URL and OPENAI_MODEL choose another endpoint that speaks the same.
import OpenAI from 'openai';
import { answerToolCalls, openAITools } from 'toolwright/openai';
import { context, executor, report } from './notes.ts';

const client = new OpenAI();
const model = process.env['OPENAI_MODEL'] ?? 'gpt-5.4-mini';
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'user', content: 'How many words are in "the quick brown fox"?' },
];
for (let turn = 0; turn < 5; turn++) {
  const { choices } = await client.chat.completions.create({ model, messages, tools: openAITools(executor) });
  const message = choices[0]?.message;
  if (message === undefined) break;
  messages.push(message);
  const answers = await answerToolCalls(executor, context, message.tool_calls);
  if (answers.length === 0) {
    console.log(message.content);
    break;
  }
  messages.push(...answers);
}
report();
