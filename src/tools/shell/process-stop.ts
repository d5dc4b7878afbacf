import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { processId, processLine, processShape, shownProcess } from './process-text.ts';

export const processStop = defineTool({
  name: 'process_stop',
  category: ToolCategory.EXECUTION,
  effect: 'idempotent',
  description: 'Stop a background process and everything it started. Its output stays readable.',
  input: z.object({ id: processId }),
  output: z.object({ process: processShape }),

  summary: ({ id }) => `Stop ${id}`,
  access: () => [],

  async run({ id }, ctx) {
    const stopped = await ctx.commands.stop(id);
    return stopped.ok ? ok({ process: shownProcess(stopped.value) }) : stopped;
  },

  render: ({ process }) => processLine(process),
});
