import { z } from 'zod';
import { ok } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import { markUntrusted } from './mark-untrusted.ts';
import { secretReason } from './secret-reason.ts';
import { visibleText } from './visible-text.ts';

export const webSearch = defineTool({
  name: 'web_search',
  category: ToolCategory.WEB,
  effect: 'idempotent',
  patterns: 'none',
  description:
    'Search the web and get titles, links and snippets, best first. Read a promising page with web_fetch. ' +
    'Needs a search provider configured by the user.',
  input: z.object({
    query: z.string().min(1).max(1000).describe('What to search for'),
    numResults: z.int().min(1).max(20).default(5).describe('Maximum number of results'),
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
      results: hits.map(({ title, url, snippet }) => ({
        title: visibleText(title),
        url,
        snippet: visibleText(snippet),
      })),
    });
  },

  render({ provider, results }) {
    if (results.length === 0) return `${provider} found nothing. Try other or fewer words.`;
    const list = results.map(({ title, url, snippet }, index) =>
      `${index + 1}. ${title}\n   ${url}\n   ${snippet}`.trimEnd(),
    );
    return `${results.length} results from ${provider}.\n${markUntrusted(list.join('\n'))}`;
  },
});
