import { describe, expect, test } from 'vitest';
import { createStubInternet } from '../testing/stub-internet.ts';
import { createWeb } from './create-web.ts';
import { createUrlGuard, type UrlGuardOptions } from './url-guard.ts';

const says = (url: string, options: UrlGuardOptions = {}) => {
  const checked = createUrlGuard(options).check(url);
  return checked.ok ? 'ok' : checked.error.code;
};

describe('a URL', () => {
  test.each([
    ['https://example.org/a?b#c', 'ok'],
    ['http://1.1.1.1/', 'ok'],
    ['file:///etc/passwd', 'PERMISSION_DENIED'],
    ['data:text/html,x', 'PERMISSION_DENIED'],
    ['gopher://example.org/', 'PERMISSION_DENIED'],
    ['javascript:alert(1)', 'PERMISSION_DENIED'],
    ['http://a@example.org/', 'PERMISSION_DENIED'],
    ['http://example.org:22/', 'PERMISSION_DENIED'],
    ['http://example.org:99999/', 'INVALID_INPUT'],
    ['http://evil.test%00.example.org/', 'INVALID_INPUT'],
    ['example.org', 'INVALID_INPUT'],
    ['', 'INVALID_INPUT'],
  ])('%s is %s', (url, verdict) => {
    expect(says(url)).toBe(verdict);
  });

  test('has another port than 80 and 443 only where a list names it', () => {
    const allowedHosts = ['example.org:8443', '*.example.org'];
    expect(says('https://example.org:8443/', { allowedHosts })).toBe('ok');
    expect(says('https://example.org:8444/', { allowedHosts })).toBe('PERMISSION_DENIED');
    expect(says('https://a.example.org:8443/', { allowedHosts })).toBe('PERMISSION_DENIED');
  });

  test('leads to an address of one’s own only where that is listed', () => {
    const privateHosts = ['gerrit.corp.test', '10.1.0.0/16', '127.0.0.1:3000', 'wiki.local:8080'];
    expect(says('http://10.1.2.3/', { privateHosts })).toBe('ok');
    expect(says('http://10.2.2.3/', { privateHosts })).toBe('PERMISSION_DENIED');
    expect(says('http://127.0.0.1:3000/', { privateHosts })).toBe('ok');
    expect(says('http://127.0.0.1/', { privateHosts })).toBe('PERMISSION_DENIED');
    expect(says('http://wiki.local:8080/', { privateHosts })).toBe('ok');
    expect(says('http://other.local/', { privateHosts })).toBe('PERMISSION_DENIED');
    const guard = createUrlGuard({ privateHosts });
    expect(guard.listedFor(new URL('http://gerrit.corp.test/'))).toContain('10.0.0.0/8');
    expect(guard.listedFor(new URL('http://evil.test/'))).toEqual([]);
    expect(guard.listedFor(new URL('http://10.1.2.3/'))).toEqual(['10.1.0.0/16']);
  });

  test('never leads to our own server, whatever is listed', () => {
    const options = { privateHosts: ['127.0.0.1', '127.0.0.1:8665', '0.0.0.0:8665'], ownPorts: () => [8665] };
    expect(says('http://127.0.0.1:8665/', options)).toBe('PERMISSION_DENIED');
    expect(says('http://0.0.0.0:8665/', options)).toBe('PERMISSION_DENIED');
    expect(says('http://127.0.0.1/', options)).toBe('ok');
  });

  test('is not judged by a list that makes no sense', () => {
    expect(() => createUrlGuard({ allowedHosts: ['*'] })).toThrow("'*' is not a valid host");
    expect(() => createUrlGuard({ privateHosts: ['10.0.0.0/99'] })).toThrow('10.0.0.0/99');
  });
});

describe('a host of the user’s own network', () => {
  async function fetched(address: string, port = 80, ownPorts: number[] = [], listed?: string[]) {
    await using internet = await createStubInternet((_request, response) => response.end('inside'), {
      'gerrit.corp.test': [address],
    });
    const privateHosts = listed ?? ['gerrit.corp.test', `gerrit.corp.test:${port}`];
    const web = createWeb({ dialer: internet.dialer, privateHosts, ownPorts: () => ownPorts });
    const url = `http://gerrit.corp.test:${port}/`;
    const admitted = [{ kind: 'net.fetch', url, method: 'GET' }] as const;
    const { signal } = new AbortController();
    const reach = web.open({ callId: 'c', session: 's', workingDir: '/', timeout: 120, signal, admitted });
    const result = await reach.fetch({ url, method: 'GET', timeoutMs: 5000, maxBytes: 1000 });
    return result.ok ? Buffer.from(result.value.bytes).toString() : result.error.code;
  }

  test('is reached at a private address, and at no other that is not public', async () => {
    expect(await fetched('10.20.0.5')).toBe('inside');
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', 'fe80::1', '0.0.0.0']) {
      expect(await fetched(address)).toBe('PERMISSION_DENIED');
    }
  });

  test('is not reached because its address is listed, but because its name is', async () => {
    expect(await fetched('127.0.0.1', 80, [], ['127.0.0.1'])).toBe('PERMISSION_DENIED');
    expect(await fetched('10.20.0.5', 80, [], ['10.0.0.0/8'])).toBe('PERMISSION_DENIED');
    expect(await fetched('127.0.0.1', 80, [], ['127.0.0.1', '*.corp.test'])).toBe('inside');
  });

  test('is reached at the port that is listed with it', async () => {
    expect(await fetched('10.20.0.5', 8080, [], ['gerrit.corp.test:8080'])).toBe('inside');
    expect(await fetched('10.20.0.5', 8081, [], ['gerrit.corp.test:8080'])).toBe('PERMISSION_DENIED');
    expect(await fetched('10.20.0.5', 80, [], ['gerrit.corp.test:8080'])).toBe('PERMISSION_DENIED');
  });

  test('may be this machine by its usual name', () => {
    const guard = createUrlGuard({ privateHosts: ['localhost:3000'] });
    expect(guard.check('http://localhost:3000/').ok).toBe(true);
    expect(guard.check('http://localhost/').ok).toBe(false);
    expect(guard.listedFor(new URL('http://localhost:3000/'))).toEqual(['127.0.0.0/8', '::1']);
  });

  test('is not our own server under another name', async () => {
    expect(await fetched('10.20.0.5', 8665, [8665])).toBe('PERMISSION_DENIED');
    expect(await fetched('10.20.0.5', 8666, [8665])).toBe('inside');
  });
});
