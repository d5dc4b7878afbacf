import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { GrepLine } from '../../kernel/world/workspace.ts';
import { pathParameter } from '../fs/path-parameter.ts';
import { searchFooter } from './search-footer.ts';

const globs = z.union([z.string(), z.array(z.string())]);

const output = z.object({
  lines: z.array(z.object({ path: z.string(), line: z.int(), text: z.string(), match: z.boolean() })),
  files: z.array(z.object({ path: z.string(), count: z.int() })),
  totalMatches: z.int(),
  totalFiles: z.int(),
  ignored: z.int().nullable(),
  complete: z.boolean(),
  output: z.enum(['content', 'files', 'count']),
});

export const grep = defineTool({
  name: 'grep',
  category: ToolCategory.FILE,
  effect: 'pure',
  patterns: 'paths',
  description:
    'Search the contents of files with a regular expression (Rust syntax, no look-around). Answers path:line: text, the ' +
    'newest file first. Files in .gitignore are skipped and counted; sensitive files are never searched.',
  input: z.object({
    pattern: z.string().min(1).describe('The regular expression, or the text itself with literal'),
    path: pathParameter('The folder or file to search').default('.'),
    include: globs.optional().describe('Only files that match, such as *.py or a list of patterns'),
    exclude: globs.optional().describe('Not files that match'),
    output: z.enum(['content', 'files', 'count']).default('content').describe('Lines, paths, or matches per file'),
    context: z.int().min(0).max(50).optional().describe('Lines to show before and after each match'),
    before: z.int().min(0).max(50).default(0).describe('Lines to show before each match'),
    after: z.int().min(0).max(50).default(0).describe('Lines to show after each match'),
    caseSensitive: z.boolean().optional().describe('Default: only if the pattern has capital letters'),
    literal: z.boolean().default(false).describe('Search for the literal text'),
    multiline: z.boolean().default(false).describe('Let a match span lines'),
    includeHidden: z.boolean().default(false).describe('Also files and folders that start with a dot'),
    includeIgnored: z.boolean().default(false).describe('Also files in .gitignore'),
    limit: z.int().min(1).max(2000).default(100).describe('Maximum number of matches'),
  }),
  output,
  aliases: {
    path: ['dir', 'directory', 'folder'],
    include: ['glob'],
    output: ['output_mode', 'outputMode'],
    includeIgnored: ['no_ignore', 'noIgnore'],
    caseSensitive: ['case_sensitive'],
  },

  summary: ({ pattern, path }) => `Search ${JSON.stringify(pattern)}${path === '.' ? '' : ` in ${path}`}`,
  access: ({ path }) => [{ kind: 'fs.read', path }],

  async run({ include = [], exclude = [], context, before, after, caseSensitive, ...query }, ctx) {
    const found = await ctx.search.grep({
      ...query,
      caseSensitive: caseSensitive ?? 'smart',
      include: typeof include === 'string' ? [include] : include,
      exclude: typeof exclude === 'string' ? [exclude] : exclude,
      before: context ?? before,
      after: context ?? after,
    });
    if (!found.ok) return found;
    const { lines, files } = found.value;
    return ok({ ...found.value, lines: [...lines], files: [...files], output: query.output });
  },

  render(answer) {
    const { files, lines, totalMatches, totalFiles } = answer;
    if (totalMatches === 0) return searchFooter('No matches found.', [], answer);
    const shown = { content: content(lines), files: names(files), count: counts(files) }[answer.output];
    const isCut =
      answer.output === 'content'
        ? lines.filter(({ match }) => match).length < totalMatches
        : files.length < totalFiles;
    const cut = isCut
      ? `Truncated: there are ${totalMatches} matches in ${totalFiles} files. Narrow the search or raise limit.`
      : '';
    return searchFooter(shown, [cut], answer);
  },
  view(answer) {
    if (answer.output !== 'content' || answer.lines.length === 0)
      return [{ kind: 'files', paths: answer.files.map(({ path }) => path) }];
    const rows = answer.lines.map(({ path, line, text }) => [`${path}:${line}`, text]);
    return [{ kind: 'table', columns: ['path:line', 'text'], rows }];
  },
});

/** `path:line: text`; context lines have dashes, and a line of dashes marks a gap. */
function content(lines: readonly GrepLine[]): string {
  const shown: string[] = [];
  const hasContext = lines.some(({ match }) => !match);
  for (const [index, { path, line, text, match }] of lines.entries()) {
    const last = lines[index - 1];
    if (hasContext && last !== undefined && (last.path !== path || last.line + 1 !== line)) shown.push('--');
    shown.push(match ? `${path}:${line}: ${text}` : `${path}-${line}- ${text}`);
  }
  return shown.join('\n');
}

function names(files: readonly { path: string }[]): string {
  return files.map(({ path }) => path).join('\n');
}

function counts(files: readonly { path: string; count: number }[]): string {
  return files.map(({ path, count }) => `${path}:${count}`).join('\n');
}
