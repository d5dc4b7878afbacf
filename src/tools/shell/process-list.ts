import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { processLine, processShape, shownProcess } from './process-text.ts';

export const processList = defineTool({
  name: 'process_list',
  category: ToolCategory.EXECUTION,
  effect: 'pure',
  description: 'List the background processes of this session and their state.',
  input: z.object({}),
  output: z.object({ processes: z.array(processShape) }),

  summary: () => 'List background processes',
  access: () => [],

  run: (_input, ctx) => ok({ processes: ctx.commands.list().map(shownProcess) }),

  render: ({ processes }) =>
    processes.length === 0 ? 'There are no background processes.' : processes.map(processLine).join('\n'),
});
