import { listAt, type SearchProvider } from './provider.ts';
import type { ProviderKey } from './settings.ts';

export function exa({ key, endpoint }: ProviderKey, query: string, limit: number): SearchProvider {
  return {
    name: 'Exa',
    variable: 'EXA_API_KEY',
    request: {
      url: new URL(endpoint ?? 'https://api.exa.ai/search'),
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ query, numResults: limit, contents: { highlights: true } }),
    },
    hits: (answer) =>
      listAt(answer, 'results')?.map(({ title, url, highlights, text }) => {
        const snippet = Array.isArray(highlights) ? highlights.filter((each) => typeof each === 'string') : [];
        return { title, url, snippet: snippet.length > 0 ? snippet.join(' … ') : text };
      }),
  };
}
