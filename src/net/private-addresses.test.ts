import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../kernel/tool/access.ts';
import { createStubInternet, type StubInternet } from '../testing/stub-internet.ts';
import { createWeb } from './create-web.ts';

/** Spellings of an address in a URL, and what a name server would answer for it. */
const SPELLINGS: readonly (readonly [inUrl: string, address: string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['127.0.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0x7f000001', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['0x7F.0x0.0x0.0x1', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['0177.0x0.0.1', '127.0.0.1'],
  ['017700000001', '127.0.0.1'],
  ['%31%32%37.0.0.1', '127.0.0.1'],
  ['１２７.0.0.1', '127.0.0.1'],
  ['127。0。0。1', '127.0.0.1'],
  ['①②⑦.0.0.1', '127.0.0.1'],
  ['127.0.0.1.', '127.0.0.1'],
  ['127.255.255.254', '127.255.255.254'],
  ['localhost', '127.0.0.1'],
  ['LOCALHOST.', '127.0.0.1'],
  ['a.localhost', '127.0.0.1'],
  ['[::1]', '::1'],
  ['[0:0:0:0:0:0:0:1]', '::1'],
  ['[::]', '::'],
  ['[::ffff:127.0.0.1]', '::ffff:127.0.0.1'],
  ['[::ffff:7f00:1]', '::ffff:7f00:1'],
  ['[0000:0000:0000:0000:0000:ffff:7f00:0001]', '::ffff:127.0.0.1'],
  ['[::127.0.0.1]', '::127.0.0.1'],
  ['[::ffff:0:127.0.0.1]', '::ffff:0:127.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['0', '0.0.0.0'],
  ['0.1.2.3', '0.1.2.3'],
  ['169.254.169.254', '169.254.169.254'],
  ['2852039166', '169.254.169.254'],
  ['0xa9fea9fe', '169.254.169.254'],
  ['0251.0376.0251.0376', '169.254.169.254'],
  ['[::ffff:169.254.169.254]', '::ffff:a9fe:a9fe'],
  ['[fd00:ec2::254]', 'fd00:ec2::254'],
  ['metadata.google.internal', '169.254.169.254'],
  ['10.0.0.5', '10.0.0.5'],
  ['167772165', '10.0.0.5'],
  ['012.0.0.5', '10.0.0.5'],
  ['172.16.0.1', '172.16.0.1'],
  ['172.31.255.255', '172.31.255.255'],
  ['192.168.1.1', '192.168.1.1'],
  ['192.168.257', '192.168.1.1'],
  ['0xC0.0xA8.1.1', '192.168.1.1'],
  ['100.64.0.1', '100.64.0.1'],
  ['100.100.100.200', '100.100.100.200'],
  ['192.0.0.192', '192.0.0.192'],
  ['198.18.0.1', '198.18.0.1'],
  ['224.0.0.1', '224.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['240.0.0.1', '240.0.0.1'],
  ['[fe80::1]', 'fe80::1'],
  ['[fe80::1%25eth0]', 'fe80::1%eth0'],
  ['[fec0::1]', 'fec0::1'],
  ['[fc00::1]', 'fc00::1'],
  ['[fd12:3456:789a::1]', 'fd12:3456:789a::1'],
  ['[ff02::1]', 'ff02::1'],
  ['[64:ff9b::7f00:1]', '64:ff9b::7f00:1'],
  ['[64:ff9b::10.0.0.1]', '64:ff9b::10.0.0.1'],
  ['[64:ff9b:1::a00:1]', '64:ff9b:1::a00:1'],
  ['[2002:7f00:1::]', '2002:7f00:1::'],
  ['[2002:a9fe:a9fe::]', '2002:a9fe:a9fe::'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[100::1]', '100::1'],
];

const PUBLIC = '93.184.216.34';

describe('no way leads to an address that is not public', () => {
  let target = '';
  let internet: StubInternet;
  beforeAll(async () => {
    internet = await createStubInternet(
      (_request, response) => {
        const location = Buffer.from(`http://${target}/`, 'utf8').toString('latin1');
        response.writeHead(302, { location }).end();
      },
      {
        'named.test': () => [target],
        'mixed.test': () => [PUBLIC, target],
        'rebind.test': (lookup) => (lookup % 2 === 1 ? [PUBLIC] : [target]),
      },
    );
  });
  afterAll(() => internet[Symbol.asyncDispose]());

  /** Grants everything that policy could grant: only the guard is left. */
  async function go(url: string) {
    internet.dialled.length = 0;
    const access: Access = { kind: 'net.fetch', url, method: 'GET', redirects: { to: ['*'], notTo: [] } };
    const web = createWeb({ dialer: internet.dialer }).open({
      callId: 'c',
      session: 's',
      workingDir: '/',
      timeout: 120,
      signal: new AbortController().signal,
      admitted: [access],
    });
    const result = await web.fetch({ url, method: 'GET', timeoutMs: 5000, maxBytes: 1000 });
    return { code: result.ok ? 'ok' : result.error.code, dialled: [...new Set(internet.dialled)] };
  }

  test.each(SPELLINGS)('written as %s', async (inUrl, address) => {
    target = inUrl;
    const direct = await go(`http://${inUrl}/`);
    expect(direct.code).toMatch(/PERMISSION_DENIED|INVALID_INPUT/);
    expect(direct.dialled).toEqual([]);
    const redirected = await go('http://pub.test/');
    expect(redirected.code).toMatch(/PERMISSION_DENIED|NETWORK_ERROR/);
    expect(redirected.dialled).toEqual([`${PUBLIC}:80`]);

    target = address;
    expect(await go('http://named.test/')).toEqual({ code: 'PERMISSION_DENIED', dialled: [] });
    expect(await go('http://mixed.test/')).toEqual({ code: 'PERMISSION_DENIED', dialled: [] });
    const rebound = await go('http://rebind.test/');
    expect(rebound.dialled).toEqual([`${PUBLIC}:80`]);
    await go('http://rebind.test/');
  });

  test('there are at least sixty spellings', () => {
    expect(SPELLINGS.length).toBeGreaterThanOrEqual(60);
  });
});
