import { listAt, type SearchProvider } from './provider.ts';
import type { ProviderKey } from './settings.ts';

const MAX_RESULTS = 20;

export function tavily({ key, endpoint }: ProviderKey, query: string, limit: number): SearchProvider {
  return {
    name: 'Tavily',
    variable: 'TAVILY_API_KEY',
    request: {
      url: new URL(endpoint ?? 'https://api.tavily.com/search'),
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: Math.min(limit, MAX_RESULTS) }),
    },
    hits: (answer) => listAt(answer, 'results')?.map(({ title, url, content }) => ({ title, url, snippet: content })),
  };
}
