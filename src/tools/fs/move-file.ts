import { z } from 'zod';
import { fail, ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { pathParameter } from './path-parameter.ts';

export const moveFile = defineTool({
  name: 'move_file',
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
  changesFiles: 'both',
  description:
    'Move or rename a file or a folder within the workspace. Missing folders are created. An existing file ' +
    'is replaced only with overwrite.',
  input: z.object({
    from: pathParameter('What to move'),
    to: pathParameter('The new path, including the name'),
    overwrite: z.boolean().default(false).describe('Replace an existing file'),
  }),
  output: z.object({ from: z.string(), to: z.string(), replaced: z.boolean() }),
  aliases: { from: ['source', 'src'], to: ['destination', 'dest', 'target'] },

  summary: ({ from, to }) => `Move ${from} to ${to}`,
  plan: (given) => ok({ changes: [{ kind: 'move' as const, ...given }] }),

  async run({ changes }, ctx) {
    const done = await ctx.files.apply(changes);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'move') return fail('INTERNAL', 'The workspace gave no answer to a move.');
    const { from, to, replaced } = applied;
    return ok({ from, to, replaced });
  },

  render: ({ from, to, replaced }) => `Moved ${from} to ${to}${replaced ? ' and replaced the existing file' : ''}.`,
});
