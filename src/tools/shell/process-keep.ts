import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { keptChanges, nothingKept } from '../../kernel/tool/kept-changes.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { changesLine } from '../changes/changes-line.ts';
import { processId } from './process-text.ts';

export const processKeep = defineTool({
  name: 'process_keep',
  category: ToolCategory.EXECUTION,
  effect: 'once',
  description:
    'Keep the files that an ended background process wrote; otherwise they are discarded. A person may be asked about them. ' +
    'Stop the process first.',
  input: z.object({ id: processId }),
  output: keptChanges,

  summary: ({ id }) => `Keep the changes of ${id}`,
  access: () => [],

  async run({ id }, ctx) {
    const stage = await ctx.commands.stageOf(id);
    if (!stage.ok) return stage;
    return ok(stage.value === null ? nothingKept('nothing changed', null) : await ctx.keep(stage.value));
  },

  render: (kept) => changesLine(kept)[0] ?? 'It changed no files.',
});
