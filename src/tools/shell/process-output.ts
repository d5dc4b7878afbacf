import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { processId, processShape, renderProcess, shownProcess, viewProcess } from './process-text.ts';
import { plainText } from './terminal-text.ts';

const DEFAULT_BYTES = 8_000;
const MAX_BYTES = 50_000;

export const processOutput = defineTool({
  name: 'process_output',
  category: ToolCategory.EXECUTION,
  effect: 'pure',
  description:
    'Read the output and state of a background process. Without an offset the newest part; continue from `next`.',
  input: z.object({
    id: processId,
    offset: z.int().default(-DEFAULT_BYTES).describe('First byte, counted from 0; negative counts from the end'),
    length: z.int().min(1).max(MAX_BYTES).default(DEFAULT_BYTES).describe('Maximum number of bytes'),
  }),
  output: z.object({ process: processShape, output: z.string(), offset: z.int(), next: z.int() }),

  summary: ({ id }) => `Read the output of ${id}`,
  access: () => [],

  run({ id, offset, length }, ctx) {
    const page = ctx.commands.output(id, offset, length);
    if (!page.ok) return page;
    const found = ctx.commands.process(id);
    if (!found.ok) return found;
    const { text, offset: first, next } = page.value;
    return ok({ process: shownProcess(found.value), output: plainText(text), offset: first, next });
  },

  render({ process, output, offset, next }) {
    const { outputBytes, keptBytes } = process;
    const more = next < keptBytes ? `; continue with offset=${next}` : '';
    const lost = outputBytes > keptBytes ? `; ${outputBytes - keptBytes} bytes after them are not kept` : '';
    const where = `\n[Bytes ${offset} to ${next} of ${keptBytes}${more}${lost}]`;
    return `${renderProcess(process, output)}${where}`;
  },
  view: ({ process, output }) => viewProcess(process, output),
});
