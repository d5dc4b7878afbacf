import { z } from 'zod';
import { fail, ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { changeApproval } from './change-approval.ts';
import { pathParameter } from './path-parameter.ts';

export const moveFile = defineTool({
  name: 'move_file',
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
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
  access: ({ from, to, overwrite }) => [
    { kind: 'fs.delete', path: from, recursive: true },
    overwrite ? { kind: 'fs.write', path: to } : { kind: 'fs.write', path: to, expect: 'absent' },
  ],
  approval({ from, to, overwrite }, ctx) {
    const guarded = changeApproval(ctx, [to, from], { asks: 'protected' });
    return guarded ?? (overwrite ? changeApproval(ctx, [to]) : undefined);
  },

  async preview(change, ctx) {
    const would = await ctx.files.rehearse([{ kind: 'move', ...change }]);
    if (!would.ok) return `Move ${change.from}, which would fail: ${would.error.message}`;
    return `Would move ${change.from} to ${change.to}${change.overwrite ? ' and replace the existing file' : ''}.`;
  },

  async run(change, ctx) {
    const done = await ctx.files.apply([{ kind: 'move', ...change }]);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'move') return fail('INTERNAL', 'The workspace gave no answer to a move.');
    const { from, to, replaced } = applied;
    return ok({ from, to, replaced });
  },

  render: ({ from, to, replaced }) => `Moved ${from} to ${to}${replaced ? ' and replaced the existing file' : ''}.`,
});
