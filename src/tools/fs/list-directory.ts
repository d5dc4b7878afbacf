import { z } from 'zod';
import { fail } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { listingText } from './listing-text.ts';
import { pathParameter } from './path-parameter.ts';

export const listDirectory = defineTool({
  name: 'list_directory',
  category: ToolCategory.FILE,
  effect: 'pure',
  patterns: 'paths',
  description:
    'List a folder of the workspace: names, types, sizes and times. With recursive also its subfolders, with paths ' +
    'relative to the folder. Symlinks are listed, not followed.',
  input: z.object({
    path: pathParameter('The folder').default('.'),
    recursive: z.boolean().default(false).describe('Also subfolders'),
    includeHidden: z.boolean().default(false).describe('Also names that start with a dot'),
    limit: z.int().min(1).max(10_000).default(1000).describe('Maximum number of entries'),
  }),
  output: z.object({
    path: z.string(),
    entries: z.array(
      z.object({
        name: z.string(),
        type: z.enum(['file', 'directory', 'symlink', 'other']),
        size: z.number(),
        modified: z.string(),
      }),
    ),
    complete: z.boolean(),
  }),
  aliases: { path: ['dir', 'directory', 'folder'] },

  summary: ({ path }) => `List ${path}`,
  access: ({ path }) => [{ kind: 'fs.read', path }],

  async run({ path, ...query }, ctx) {
    const listed = await ctx.files.list(path, query);
    if (listed.ok) return { ok: true, value: { ...listed.value, entries: [...listed.value.entries] } };
    if (listed.error.details?.errno !== 'ENOTDIR') return listed;
    return fail('INVALID_PATH', `${path} is a file, not a folder: use read_file.`);
  },

  render: listingText,
});
