// What `npm start` shows until there is a server: the tools, and a few real calls through the whole pipeline.
import { type ApprovalRequest, builtInTools, createToolwright, defineTool, ok, type ToolResult } from 'toolwright';
import { z } from 'zod';
import { countWords } from './tools/count-words.ts';
import { NoteTool } from './tools/note-tool.ts';

const squares = defineTool({
  name: 'squares',
  description: 'List the squares up to a number.',
  input: z.object({ upTo: z.int().min(1).describe('The last number to square') }),
  access: () => [],
  run: ({ upTo }) => ok(Array.from({ length: upTo }, (_, index) => `${index + 1}² = ${(index + 1) ** 2}`).join('\n')),
});

const { registry, executor, call } = createToolwright({
  tools: [...builtInTools, countWords, squares, new NoteTool()],
  sessionId: 'tour',
  maxOutputSize: 320,
  approver: (request: ApprovalRequest) => {
    console.log(`  ? ${request.reason}`);
    console.log('    answered for you: yes, with another text');
    return { approved: true, modifiedArgs: { ...request.args, text: 'Buy milk and bread' }, by: 'tour' };
  },
});

console.log('Toolwright: one way to run every tool an agent asks for.\n');
console.log('Tools');
for (const tool of registry.listAll()) console.log(`  ${tool.name.padEnd(12)} ${tool.description.split('. ')[0]}`);

console.log('\nCalls');
await show('a call', 'count_words', { text: 'measure twice, cut once' });
await show('a wrong one: the model reads what to mend', 'count_words', { text: 7, langage: 'en' });
await show('an unknown tool', 'cuont_words', {});
await show('a tool written as a class', 'write_note', { title: 'Shopping', content: 'Buy milk' });
await show('overwriting asks a person, who edits it', 'write_note', { title: 'Shopping', text: 'Buy cake' });
const long = await show('long output is cut for the model', 'squares', { upTo: 500 });
const { artifact } = long.metadata;
await show('… and the whole of it is kept', 'read_output', { artifact, offset: 250, limit: 2 });

console.log('\nOne definition, every format');
const [openai] = executor.getAllSchemas('openai').filter(({ function: { name } }) => name === 'count_words');
const [anthropic] = executor.getAllSchemas('anthropic').filter(({ name }) => name === 'count_words');
console.log(`  openai     ${JSON.stringify(openai).slice(0, 96)}…`);
console.log(`  anthropic  ${JSON.stringify(anthropic).slice(0, 96)}…`);

console.log('\nHistory');
for (const { toolName, state, durationMs } of executor.getExecutions()) {
  console.log(`  ${toolName.padEnd(12)} ${state.padEnd(10)} ${durationMs.toFixed(2)} ms`);
}

async function show(what: string, tool: string, args: unknown): Promise<ToolResult> {
  console.log(`\n  ${what}: ${tool}(${JSON.stringify(args)})`);
  const result = await call(tool, args);
  for (const line of result.text.split('\n')) console.log(`  ${result.ok ? '✓' : '✗'} ${line}`);
  return result;
}
