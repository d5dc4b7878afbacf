import { listAt, type SearchProvider } from './provider.ts';

export function searxng({ url: base }: { readonly url: string }, query: string): SearchProvider {
  const url = new URL(base.endsWith('/search') ? base : `${base.replace(/\/+$/, '')}/search`);
  url.searchParams.set('q', query);
  url.searchParams.set('format', 'json');
  return {
    name: 'SearXNG',
    variable: 'SEARXNG_URL',
    request: { url, method: 'GET', headers: { accept: 'application/json' } },
    hits: (answer) => listAt(answer, 'results')?.map(({ title, url, content }) => ({ title, url, snippet: content })),
  };
}
