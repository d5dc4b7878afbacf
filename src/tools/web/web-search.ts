import { z } from 'zod';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { ok } from '../../kernel/result.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { secretReason } from './secret-reason.ts';
import { seenText } from './seen-text.ts';
import { untrusted } from './untrusted.ts';

export const webSearch = defineTool({
  name: 'web_search',
  category: ToolCategory.WEB,
  effect: 'idempotent',
  patterns: 'none',
  description:
    'Search the web and get titles, links and snippets, best first. Read a page that looks right with web_fetch. ' +
    'It needs a search provider that the user has configured.',
  input: z.object({
    query: z.string().min(1).max(1000).describe('What to search for'),
    numResults: z.int().min(1).max(20).default(5).describe('Most results to return'),
  }),
  output: z.object({
    provider: z.string(),
    results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string() })),
  }),
  aliases: { numResults: ['num_results', 'count', 'limit', 'max_results'], query: ['q'] },

  summary: ({ query }) => `Search the web for ${JSON.stringify(query)}`,
  access: ({ query }) => [{ kind: 'net.search', query }],
  approval: ({ query }, ctx) => secretReason([query], ctx),

  async run({ query, numResults }, ctx) {
    const found = await ctx.web.search({ query, limit: numResults });
    if (!found.ok) return found;
    const { provider, hits } = found.value;
    return ok({
      provider,
      results: hits.map(({ title, url, snippet }) => ({ title: seenText(title), url, snippet: seenText(snippet) })),
    });
  },

  render({ provider, results }) {
    if (results.length === 0) return `${provider} found nothing. Try other or fewer words.`;
    const list = results.map(({ title, url, snippet }, index) =>
      `${index + 1}. ${title}\n   ${url}\n   ${snippet}`.trimEnd(),
    );
    return `${results.length} results from ${provider}.\n${untrusted(list.join('\n'))}`;
  },
});
