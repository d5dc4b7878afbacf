import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { pathParameter } from '../fs/path-parameter.ts';
import { searchFooter } from './search-footer.ts';

export const glob = defineTool({
  name: 'glob',
  category: ToolCategory.FILE,
  effect: 'pure',
  patterns: 'paths',
  description:
    'Find files by path pattern, such as **/*.py or src/**/{index,main}.ts; the newest first. What .gitignore ' +
    'excludes is skipped and counted; includeIgnored finds it too.',
  input: z.object({
    pattern: z.string().min(1).describe('**, *, ?, [a-z], {a,b}; without a slash it matches names at any depth'),
    path: pathParameter('The folder to search').default('.'),
    includeHidden: z.boolean().default(false).describe('Also files and folders that start with a dot'),
    includeIgnored: z.boolean().default(false).describe('Also files in .gitignore'),
    limit: z.int().min(1).max(10_000).default(200).describe('Maximum number of paths'),
  }),
  output: z.object({
    paths: z.array(z.string()),
    total: z.int(),
    ignored: z.int().nullable(),
    complete: z.boolean(),
  }),
  aliases: { path: ['dir', 'directory', 'folder'], includeIgnored: ['no_ignore', 'noIgnore'] },

  summary: ({ pattern, path }) => `Find ${pattern}${path === '.' ? '' : ` in ${path}`}`,
  access: ({ path }) => [{ kind: 'fs.read', path }],

  async run(query, ctx) {
    const found = await ctx.search.glob(query);
    return found.ok ? ok({ ...found.value, paths: [...found.value.paths] }) : found;
  },

  render({ paths, total, ignored, complete }) {
    const head = paths.length === 0 ? 'No files found.' : paths.join('\n');
    const cut =
      total > paths.length ? `${paths.length} of ${total} files; give a narrower pattern or a higher limit.` : '';
    return searchFooter(head, [cut], { ignored, complete });
  },
  view: ({ paths, total }) =>
    paths.length === 0
      ? [{ kind: 'text', text: 'No files found.' }]
      : [
          { kind: 'files', paths },
          ...(total > paths.length ? [{ kind: 'text' as const, text: `${paths.length} / ${total}` }] : []),
        ],
});
