import { expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';

const load = (env: Record<string, string>) => loadConfig({ env, home: '/nonexistent' });

test('search providers are configured by their own variables', async () => {
  const env = { BRAVE_API_KEY: 'b', TAVILY_API_KEY: 't', EXA_API_KEY: 'e', SEARXNG_URL: 'https://search.test' };
  expect(await load(env)).toMatchObject({
    ok: true,
    value: {
      search: { brave: { key: 'b' }, tavily: { key: 't' }, exa: { key: 'e' }, searxng: { url: 'https://search.test' } },
    },
  });
  expect(await load({ BRAVE_API_KEY: '' })).toMatchObject({ ok: true, value: { search: {} } });
});

test('an instance that has no address is a problem with a name', async () => {
  expect(await load({ SEARXNG_URL: 'localhost:8888' })).toMatchObject({
    error: { message: expect.stringContaining('SEARXNG_URL cannot be "localhost:8888"') },
  });
});

test('a list of hosts that would mean nothing is refused', async () => {
  expect(await load({ TOOLWRIGHT_ALLOWED_HOSTS: '*' })).toMatchObject({
    error: { message: expect.stringContaining('example.org, *.example.org') },
  });
  expect(await load({ TOOLWRIGHT_PRIVATE_HOSTS: '10.0.0.0/99' })).toMatchObject({
    error: { message: expect.stringContaining('a range of them') },
  });
  expect(await load({ TOOLWRIGHT_PRIVATE_HOSTS: '10.0.0.0/8,gerrit.corp.test:8443,127.0.0.1' })).toMatchObject({
    ok: true,
  });
});
