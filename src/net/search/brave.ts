import { listAt, type SearchProvider } from './provider.ts';
import type { ProviderKey } from './settings.ts';

const MAX_RESULTS = 20;

export function brave({ key, endpoint }: ProviderKey, query: string, limit: number): SearchProvider {
  const url = new URL(endpoint ?? 'https://api.search.brave.com/res/v1/web/search');
  url.searchParams.set('q', query);
  url.searchParams.set('count', String(Math.min(limit, MAX_RESULTS)));
  url.searchParams.set('text_decorations', 'false');
  return {
    name: 'Brave',
    variable: 'BRAVE_API_KEY',
    request: { url, method: 'GET', headers: { accept: 'application/json', 'x-subscription-token': key } },
    hits(answer) {
      // Without any result, the whole section is missing.
      const isAnswer = (answer as { type?: unknown } | null)?.type === 'search';
      const results = listAt(answer, 'web', 'results') ?? (isAnswer ? [] : undefined);
      return results?.map(({ title, url, description }) => ({ title, url, snippet: description }));
    },
  };
}
