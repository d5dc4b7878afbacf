import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { firstLine } from './command-parameters.ts';
import { processId, processLine, processShape, shownProcess } from './process-text.ts';

export const processInput = defineTool({
  name: 'process_input',
  category: ToolCategory.EXECUTION,
  effect: 'once',
  patterns: 'code',
  description: 'Write to the input of a background process, such as an answer to its question. End a line with \\n.',
  input: z.strictObject({
    id: processId,
    text: z.string().max(100_000).describe('What it reads'),
    end: z.boolean().default(false).describe('Close its input after the text'),
  }),
  output: z.object({ process: processShape }),

  summary: ({ id, text }) => `Send ${JSON.stringify(firstLine(text))} to ${id}`,
  // The process may be a shell: its input is judged like a command.
  access: ({ text }) => [{ kind: 'process.run', command: text, writes: 'background', code: 'bash' }],
  approval({ id, text }, ctx) {
    const found = ctx.commands.process(id);
    return found.ok ? `It sends ${JSON.stringify(firstLine(text))} to "${found.value.title}".` : undefined;
  },

  run({ id, text, end }, ctx) {
    const written = ctx.commands.input(id, text, end);
    return written.ok ? ok({ process: shownProcess(written.value) }) : written;
  },

  render: ({ process }) => `Written. ${processLine(process)}; read its output with process_output.`,
});
