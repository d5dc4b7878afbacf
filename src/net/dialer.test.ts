import type { AddressInfo } from 'node:net';
import { createServer, Socket, connect as tcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { specialKind } from './address.ts';
import { createDialer } from './dialer.ts';
import { isAllowedHost, malformedHost } from './hosts.ts';

describe('an address', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::a00:1',
    '64:ff9b:1::1.1.1.1',
    '64:ff9b:1:a00:0:100::',
    '64:ff9b:2::1',
    '1000::1',
    '4000::1',
    'e000::1',
    '::2:0:0:1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    'localhost',
    '0x7f.1',
    '2130706433',
    '',
  ])('%s is not public', (address) => {
    expect(specialKind(address)).not.toBeNull();
  });

  test.each(['1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    '%s is public',
    (address) => {
      expect(specialKind(address)).toBeNull();
    },
  );
});

describe('the list of hosts', () => {
  test.each([
    ['example.org', 443, ['example.org'], true],
    ['EXAMPLE.org.', 443, ['example.org'], true],
    ['evil-example.org', 443, ['example.org'], false],
    ['example.org.evil.test', 443, ['example.org'], false],
    ['a.example.org', 443, ['example.org'], false],
    ['a.b.example.org', 443, ['*.example.org'], true],
    ['example.org', 443, ['*.example.org'], false],
    ['example.org', 80, ['example.org:443'], false],
    ['127.0.0.1', 4873, ['127.0.0.1:4873'], true],
    ['::1', 80, ['[::1]:80'], true],
    ['anything.test', 443, ['*'], false],
    ['anything.org', 443, ['*.org'], false],
    ['anything.test', 443, [], false],
  ])('says about %s:%i with %j: %s', (host, port, entries, allowed) => {
    expect(isAllowedHost(host, port, entries)).toBe(allowed);
  });
});

test.each([
  '*',
  '*.org',
  '',
  ' ',
  'a b',
  'http://a.test',
  'a.test/x',
  'a.test:99999',
  'a.test:0',
  '*.*.test',
  '*:443',
  '10.0.0.0/8',
])('an entry %j of the list of hosts is malformed', (entry) => {
  expect(malformedHost([entry])).toBe(entry);
});

test('entries of every kind that is understood are well-formed', () => {
  expect(malformedHost(['a.test', '*.a.test', 'a.test:443', '127.0.0.1:80', '[::1]:80', '::1', 'localhost'])).toBe(
    null,
  );
});

test.each<[string, number, string[], boolean]>([
  ['a.test', 80, ['a.test'], true],
  ['a.test', 443, ['*.test', 'a.test'], true],
  ['a.test', 22, ['a.test'], false],
  ['a.test', 22, ['a.test:443', 'a.test'], false],
  ['a.test', 22, ['a.test', 'a.test:22'], true],
  ['b.a.test', 8443, ['*.a.test:8443'], true],
  ['8.8.8.8', 53, ['8.8.8.8'], false],
])('%s:%i with the hosts %j is dialled: %s', async (host, port, hosts, dialled) => {
  const connected: number[] = [];
  const connect = (_: string, to: number) => {
    connected.push(to);
    return dead();
  };
  const answer = await createDialer({ resolve: async () => ['8.8.8.8'], connect }).dial({ host, port }, { hosts });
  expect(connected).toEqual(dialled ? [port] : []);
  if (dialled) return;
  expect(answer).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
  expect(answer.ok ? '' : answer.error.message).toContain(`allow ${host}:${port} as well`);
});

/** A socket that never connects. */
function dead(): Socket {
  const socket = new Socket();
  queueMicrotask(() => socket.destroy(new Error('nobody is there')));
  return socket;
}

test('an access with an entry that means nothing is refused by name', () => {
  const { check } = createDialer();
  expect(check?.({ hosts: ['a.test', '*'] })).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  for (const entry of ['10.0.0.0/33', '10.0.0', 'a.test', '10.0.0.0/', '::/x']) {
    const refused = check?.({ hosts: [], privateAddresses: [entry] });
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining(`'${entry}'`) } });
  }
  const usual = { hosts: ['a.test:443'], privateAddresses: ['127.0.0.0/8', '::1', '10.0.0.5'] };
  expect(check?.(usual)).toMatchObject({ ok: true });
});

describe('the dialer', () => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('hello');
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => server.close());

  /** Public addresses of the test lead to the local server; any other dial is recorded. */
  function stub(answers: readonly (readonly string[])[]) {
    const dialled: string[] = [];
    let asked = 0;
    const dialer = createDialer({
      resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [],
      connect(address) {
        dialled.push(address);
        return tcp(port, '127.0.0.1');
      },
    });
    return { dialer, dialled, asked: () => asked };
  }

  test('dials the address it judged and asks the name server once', async () => {
    const { dialer, dialled, asked } = stub([['93.184.216.34'], ['127.0.0.1']]);
    const result = await dialer.dial({ host: 'rebind.test', port: 80 }, { hosts: ['rebind.test'] });
    expect(result).toMatchObject({ ok: true, value: { address: '93.184.216.34' } });
    expect([dialled, asked()]).toEqual([['93.184.216.34'], 1]);
    if (result.ok) result.value.socket.destroy();
  });

  test('dials nothing when one of the addresses is private', async () => {
    const { dialer, dialled } = stub([['93.184.216.34', '10.0.0.5']]);
    const result = await dialer.dial({ host: 'mixed.test', port: 80 }, { hosts: ['mixed.test'] });
    expect(result).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
    expect(dialled).toEqual([]);
  });

  test('dials a private address that the user listed, by range or as the host itself', async () => {
    const { dialer, dialled } = stub([['10.0.0.5']]);
    const byRange = { hosts: ['db.test'], privateAddresses: ['10.0.0.0/24'] };
    expect(await dialer.dial({ host: 'db.test', port: 80 }, byRange)).toMatchObject({ ok: true });
    expect(await dialer.dial({ host: '10.0.0.9', port: 80 }, { hosts: ['10.0.0.9'] })).toMatchObject({ ok: true });
    expect(dialled).toEqual(['10.0.0.5', '10.0.0.9']);
  });

  test('a listed address is reached as it is written, and by no name that leads there', async () => {
    const { dialer, dialled } = stub([['127.0.0.1']]);
    const access = { hosts: ['*.pages.test', '127.0.0.1:3000'] };
    for (const port of [3000, 22]) {
      const refused = await dialer.dial({ host: 'evil.pages.test', port }, access);
      expect(refused).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
    }
    expect(await dialer.dial({ host: '127.0.0.1', port: 22 }, access)).toMatchObject({ ok: false });
    expect(dialled).toEqual([]);
    expect(await dialer.dial({ host: '127.0.0.1', port: 3000 }, access)).toMatchObject({ ok: true });
  });

  test.each(['', '*.x', 'a b', 'evil\0.test', 'a/b', '-x', 'xxx\r\n'])(
    'refuses %j, which is not a host name',
    async (host) => {
      const { dialer, dialled } = stub([['93.184.216.34']]);
      const result = await dialer.dial({ host, port: 80 }, { hosts: [host, 'a'] });
      expect(result.ok).toBe(false);
      expect(dialled).toEqual([]);
    },
  );

  test('says which hosts are allowed when one is not', async () => {
    const { dialer } = stub([['93.184.216.34']]);
    const result = await dialer.dial({ host: 'other.test', port: 443 }, { hosts: ['one.test'] });
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining('allowed are one.test') } });
  });

  test('reaches a real server by a listed loopback address', async () => {
    const result = await createDialer().dial({ host: '127.0.0.1', port }, { hosts: [`127.0.0.1:${port}`] });
    expect(result).toMatchObject({ ok: true, value: { address: '127.0.0.1' } });
    if (result.ok) result.value.socket.destroy();
    const unlisted = await createDialer().dial({ host: 'localhost', port }, { hosts: ['localhost'] });
    expect(unlisted).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
  });
});
