import { z } from 'zod';
import { fail, ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { PATH_ALIASES, pathParameter } from './path-parameter.ts';

const MAX_NAMED = 1000;

export const deleteFile = defineTool({
  name: 'delete_file',
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
  changesFiles: 'deletes',
  description:
    'Delete a file or a folder of the workspace. A folder that is not empty needs recursive. A symlink is deleted, not ' +
    'its target. Always needs approval.',
  input: z.object({
    path: pathParameter('The file or folder'),
    recursive: z.boolean().default(false).describe('Delete a folder with everything in it'),
  }),
  output: z.object({ deleted: z.array(z.string()), total: z.int(), undoable: z.boolean() }),
  aliases: PATH_ALIASES,

  summary: ({ path, recursive }) => `Delete ${path}${recursive ? ' and everything in it' : ''}`,
  plan: (given) => ok({ changes: [{ kind: 'delete' as const, ...given }], asksAlways: true as const }),

  async run({ changes }, ctx) {
    const done = await ctx.files.apply(changes);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'delete') return fail('INTERNAL', 'The workspace gave no answer to a deletion.');
    const { deleted, undoable } = applied;
    return ok({ deleted: deleted.slice(0, MAX_NAMED), total: deleted.length, undoable });
  },

  render({ deleted, total, undoable }) {
    const what = total === 1 ? `Deleted ${deleted[0]}` : `Deleted ${deleted[0]} with ${total - 1} entries`;
    return `${what}${undoable ? '; it can be undone' : ''}.`;
  },
});
