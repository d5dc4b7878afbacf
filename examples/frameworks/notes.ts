import { createToolwright, defineTool, ok } from 'toolwright';
import { z } from 'zod';

/** One tool behind an executor: what every example here hands to its framework. */
const countWords = defineTool({
  name: 'count_words',
  description: 'Count the words of a text',
  effect: 'pure',
  input: z.object({ text: z.string() }),
  output: z.object({ words: z.number() }),
  access: () => [],
  run: ({ text }) => ok({ words: text.split(/\s+/).filter(Boolean).length }),
  render: ({ words }) => `${words} words`,
});

export const { executor, context } = createToolwright({ tools: [countWords] });

/** Every call went through policy, approval and record, whoever asked for it. */
export function report(): void {
  for (const { toolName, state, result } of executor.getExecutions())
    console.log(`${toolName}: ${state}, ${result.text}`);
}
