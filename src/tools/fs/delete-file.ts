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
  access: ({ path, recursive }) => [{ kind: 'fs.delete', path, recursive }],

  /** Always needs approval, except where the call will be refused anyway. */
  async approval({ path, recursive }, ctx) {
    const would = await ctx.files.rehearse([{ kind: 'delete', path, recursive }]);
    if (!would.ok) return undefined;
    const [applied] = would.value;
    const count = applied?.kind === 'delete' ? applied.deleted.length : 1;
    const reason = count > 1 ? `It deletes ${path} with ${count - 1} entries.` : `It deletes ${path}.`;
    return { reason, always: true } as const;
  },

  async preview({ path, recursive }, ctx) {
    const would = await ctx.files.rehearse([{ kind: 'delete', path, recursive }]);
    if (!would.ok) return `Delete ${path}, which would fail: ${would.error.message}`;
    const [applied] = would.value;
    return `Would delete:\n${applied?.kind === 'delete' ? applied.deleted.slice(0, MAX_NAMED).join('\n') : path}`;
  },

  async run({ path, recursive }, ctx) {
    const done = await ctx.files.apply([{ kind: 'delete', path, recursive }]);
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
