import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createWeb } from '../create-web.ts';
import type { SearchSettings } from './settings.ts';

const KEY = 'secret-key-1234';

/** A server on loopback that answers like a provider and records requests. */
async function provider(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { line: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { base, requests, [Symbol.asyncDispose]: async () => void server.close() };
}

const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

function search(settings: SearchSettings, query = 'node streams', limit = 5) {
  const { signal } = new AbortController();
  const caller = { callId: 'c', session: 's', workingDir: '/', timeout: 120, signal, admitted: [] };
  return createWeb({ search: settings }).open(caller).search({ query, limit });
}

const HIT = { title: 'Streams', url: 'https://nodejs.org/api/stream.html', snippet: 'A stream is an interface.' };

const BRAVE = {
  type: 'search',
  query: { original: 'node streams' },
  web: {
    type: 'search',
    results: [
      {
        title: 'Streams',
        url: HIT.url,
        description: 'A <strong>stream</strong> is an interface.',
        family_friendly: true,
      },
      { title: 'Bad', url: 'javascript:alert(1)', description: '' },
    ],
  },
};
const TAVILY = {
  query: 'node streams',
  response_time: 1.2,
  results: [{ title: 'Streams', url: HIT.url, content: HIT.snippet, score: 0.9, raw_content: null }],
};
const EXA = {
  requestId: 'r1',
  results: [{ id: HIT.url, title: 'Streams', url: HIT.url, publishedDate: null, highlights: [HIT.snippet] }],
};
const SEARXNG = {
  query: 'node streams',
  number_of_results: 0,
  results: [{ title: 'Streams', url: HIT.url, content: HIT.snippet, engine: 'duckduckgo', positions: [1] }],
};

const PROVIDERS = [
  [
    'Brave',
    'BRAVE_API_KEY',
    BRAVE,
    (base: string): SearchSettings => ({ brave: { key: KEY, endpoint: `${base}/web` } }),
  ],
  ['Tavily', 'TAVILY_API_KEY', TAVILY, (base: string): SearchSettings => ({ tavily: { key: KEY, endpoint: base } })],
  ['Exa', 'EXA_API_KEY', EXA, (base: string): SearchSettings => ({ exa: { key: KEY, endpoint: base } })],
  ['SearXNG', 'SEARXNG_URL', SEARXNG, (base: string): SearchSettings => ({ searxng: { url: base } })],
] as const;

describe.each(PROVIDERS)('%s', (name, variable, answer, settings) => {
  test('is understood in its documented format', async () => {
    await using server = await provider(json(answer));
    expect(await search(settings(server.base))).toMatchObject({ ok: true, value: { provider: name, hits: [HIT] } });
  });

  test('that refuses the key names the variable, and never the key', async () => {
    await using server = await provider(json({ error: `invalid API key ${KEY}` }, 401));
    const result = await search(settings(server.base));
    expect(result).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED', details: { status: 401 } } });
    expect(JSON.stringify(result)).not.toContain(KEY);
    if (variable !== 'SEARXNG_URL') expect(JSON.stringify(result)).toContain(variable);
  });

  test('that has had enough says when to come back', async () => {
    await using server = await provider(json({}, 429, { 'retry-after': '17' }));
    expect(await search(settings(server.base))).toMatchObject({
      error: { code: 'NETWORK_ERROR', message: expect.stringContaining('in 17 s'), details: { retryAfter: 17 } },
    });
  });

  test.each([
    ['no JSON', (_request: IncomingMessage, response: ServerResponse) => void response.end('<html>')],
    ['another format', json({ results: 'none', web: { results: 7 } })],
    ['a server error', json({}, 503)],
    ['a broken connection', (_request: IncomingMessage, response: ServerResponse) => void response.socket?.destroy()],
    ['a redirect', json({}, 302, { location: 'http://127.0.0.1:1/' })],
  ])('that answers with %s is a clear error', async (_what, wrong) => {
    await using server = await provider(wrong);
    expect(await search(settings(server.base))).toMatchObject({ ok: false, error: { code: 'NETWORK_ERROR' } });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });
});

test('an instance on this machine is reached by its name, and our own server is not', async () => {
  await using server = await provider(json(SEARXNG));
  const url = server.base.replace('127.0.0.1', 'localhost');
  expect(await search({ searxng: { url } })).toMatchObject({ ok: true, value: { hits: [HIT] } });
  const { signal } = new AbortController();
  const caller = { callId: 'c', session: 's', workingDir: '/', timeout: 120, signal, admitted: [] };
  const web = createWeb({ search: { searxng: { url } }, ownPorts: () => [Number(new URL(url).port)] });
  expect(await web.open(caller).search({ query: 'x', limit: 1 })).toMatchObject({
    error: { code: 'PERMISSION_DENIED' },
  });
  expect(createWeb({ search: { searxng: { url } } }).urls.check(url)).toMatchObject({
    error: { code: 'PERMISSION_DENIED' },
  });
});

test('each provider is asked in its own way', async () => {
  const asked: unknown[] = [];
  for (const [, , answer, settings] of PROVIDERS) {
    await using server = await provider(json(answer));
    await search(settings(server.base), 'a & b', 3);
    const [{ line, headers, body } = { line: '', headers: {}, body: '' }] = server.requests;
    const key = [headers['x-subscription-token'], headers['authorization'], headers['x-api-key']].find(Boolean) ?? null;
    asked.push([line, key, body === '' ? null : JSON.parse(body)]);
  }
  expect(asked).toEqual([
    ['GET /web?q=a+%26+b&count=3&text_decorations=false', KEY, null],
    ['POST /', `Bearer ${KEY}`, { query: 'a & b', max_results: 3 }],
    ['POST /', KEY, { query: 'a & b', numResults: 3, contents: { highlights: true } }],
    ['GET /search?q=a+%26+b&format=json', null, null],
  ]);
});

test('Brave without a single result is an empty answer, and its token error is a matter of the key', async () => {
  await using server = await provider(json({ type: 'search', query: { original: 'x' } }));
  expect(await search({ brave: { key: KEY, endpoint: server.base } })).toMatchObject({ ok: true, value: { hits: [] } });
  await using refusing = await provider(json({ error: { code: 'SUBSCRIPTION_TOKEN_INVALID', status: 422 } }, 422));
  expect(await search({ brave: { key: KEY, endpoint: refusing.base } })).toMatchObject({
    error: { code: 'NOT_CONFIGURED' },
  });
});

test('the first provider that is configured is used', async () => {
  await using server = await provider(json(TAVILY));
  const settings = { searxng: { url: 'http://127.0.0.1:1' }, tavily: { key: KEY, endpoint: server.base } };
  expect(await search(settings)).toMatchObject({ value: { provider: 'Tavily' } });
});

test('without any provider the answer names every variable', async () => {
  const result = await search({});
  expect(result).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
  for (const [, variable] of PROVIDERS) expect(JSON.stringify(result)).toContain(variable);
});
