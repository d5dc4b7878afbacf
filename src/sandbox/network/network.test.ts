import { createHash } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fail } from '../../kernel/result.ts';
import type { Dialer } from '../../kernel/world/dialer.ts';
import type { NetworkUse } from '../../kernel/world/sandbox.ts';
import { createDialer } from '../../net/dialer.ts';
import { trySandbox } from '../../testing/try-sandbox.ts';

const at = trySandbox({ path: process.env['PATH'] ?? '', dialer: createDialer({ connectTimeoutMs: 2_000 }) });
const requests: string[] = [];
const server = createServer((request, response) => answer(request, response));
let [port, host] = [0, ''];

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  host = `127.0.0.1:${port}`;
});
afterAll(async () => {
  server.close();
  await at[Symbol.asyncDispose]();
});

describe('[E08] a run with allowed hosts', () => {
  test('[E08] reaches a listed host through the proxy, and the record says who asked', async () => {
    const live: NetworkUse[] = [];
    const { stdout, network } = await at.sh(`curl -s http://${host}/hello`, {
      network: { hosts: [host] },
      tag: 'call-9',
      onNetwork: (use) => live.push(use),
    });
    expect(stdout).toBe('hello');
    expect(network).toEqual([
      { tag: 'call-9', host: '127.0.0.1', port, allowed: true, address: '127.0.0.1', reason: 'listed' },
    ]);
    expect(live).toEqual(network);
  });

  test('[E08] reaches it by CONNECT too', async () => {
    const { stdout } = await at.sh(`curl -s -p http://${host}/hello`, { network: { hosts: [host] } });
    expect(stdout).toBe('hello');
  });

  test('[E08] is told why another host is refused, and nothing is dialled', async () => {
    requests.length = 0;
    const { stdout, network } = await at.sh(`curl -s http://${host}/hello; curl -s -p http://${host}/hello`, {
      network: { hosts: ['example.org'] },
    });
    expect(stdout).toContain('is not an allowed host (allowed are example.org)');
    expect(network.map(({ allowed, address }) => ({ allowed, address }))).toEqual([
      { allowed: false, address: null },
      { allowed: false, address: null },
    ]);
    expect(requests).toEqual([]);
  });

  test('[E08] its variables reach nothing that opens its way out, and it is opened all the same', async () => {
    at.write('bin/env', '#!/bin/bash\necho "not json" >&9; sleep 1\n');
    chmodSync(join(at.workspace, 'bin/env'), 0o755);
    const env = {
      PATH: `${at.workspace}/bin:/usr/bin:/bin`,
      LD_DEBUG: 'libs',
      LD_DEBUG_OUTPUT: '/tmp/loaded',
      TOOLWRIGHT_CALL: 'another',
    };
    const programs = "grep -ho 'initialize program: .*' /tmp/loaded.* | sed 's/.*: //'";
    const script = `curl -s http://${host}/hello; echo; echo $TOOLWRIGHT_CALL $PATH; ls /tmp/loaded.1; ${programs}`;
    const { stdout, stderr } = await at.sh(script, { network: { hosts: [host] }, env, tag: 'call-7' });
    const [hello, variables, ...loaded] = stdout.trim().split('\n');
    expect([hello, variables]).toEqual(['hello', `call-7 ${env.PATH}`]);
    // Each program that obeyed the variable left a file with its number: only those that the script names did.
    expect(stderr).toContain('loaded.1');
    const ofScript = ['bash', '/bin/bash', 'curl', 'ls', 'grep', 'sed'];
    expect(loaded).toContain('curl');
    expect(loaded.filter((name) => !ofScript.includes(name))).toEqual([]);
  });

  test('[E08] cannot go around the proxy', async () => {
    const { exitCode } = await at.sh(`curl -s --noproxy '*' -m 2 http://${host}/hello`, { network: { hosts: [host] } });
    expect(exitCode).not.toBe(0);
  });

  test('[E08] does not reach a name that leads to this machine, unless its address is listed', async () => {
    const hosts = [`localhost:${port}`];
    const script = `curl -s http://localhost:${port}/hello`;
    expect((await at.sh(script, { network: { hosts } })).stdout).toContain('not on the public internet (');
    const listed = { hosts, privateAddresses: ['127.0.0.0/8', '::1'] };
    expect((await at.sh(script, { network: listed })).stdout).toBe('hello');
  });

  test('[E08] an upload and a large answer pass through unchanged', async () => {
    const { stdout } = await at.sh(
      `head -c 3000000 /dev/zero | curl -s --data-binary @- http://${host}/count; curl -s http://${host}/large | wc -c`,
      {
        network: { hosts: [host] },
      },
    );
    expect(stdout.trim().split('\n')).toEqual(['3000000', '5000000']);
  });

  test.each([
    'HTTP/1.1 099 X\r\n\r\n',
    'HTTP/1.1 999 X\r\n\r\n',
    'HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nx: a\u0001b\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'nothing like it',
    '',
  ])('[E08] a server that answers %j breaks its own connection and nothing else', async (text) => {
    const bad = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.end(text));
    });
    await new Promise<void>((resolve) => bad.listen(0, '127.0.0.1', resolve));
    const odd = `127.0.0.1:${(bad.address() as AddressInfo).port}`;
    const script = `curl -s -m 5 http://${odd}/ >/dev/null; curl -s http://${host}/hello`;
    const { stdout } = await at.sh(script, { network: { hosts: [odd, host] } });
    bad.close();
    expect(stdout).toBe('hello');
  });

  test('[E08] a real npm install from a registry on this machine works', async () => {
    at.write(
      'package.json',
      JSON.stringify({ name: 'app', version: '1.0.0', dependencies: { 'left-side': '^1.0.0' } }),
    );
    const script = `npm install --no-audit --no-fund --registry http://${host}/registry/ 2>&1 && node -p "require('left-side')"`;
    const { stdout } = await at.sh(script, { network: { hosts: [host] }, limits: { timeMs: 60_000 } });
    expect(stdout).toMatch(/added 1 package(.|\n)*left$/m);
  });

  test('[E08] more connections than the record holds are counted in a note', async () => {
    const script = `for i in $(seq 1 11); do curl -s $(printf 'http://no.test/%s ' $(seq 1 100)) >/dev/null; done`;
    const { network, notes } = await at.sh(script, { network: { hosts: [host] }, limits: { timeMs: 25_000 } });
    expect(network).toHaveLength(1_000);
    expect(notes).toEqual(['100 more connections are not in the network record.']);
  });

  test('[E08] many requests in one connection are not dialled for at once', async () => {
    let [now, most] = [0, 0];
    const slow = createTcpServer((socket) => {
      most = Math.max(most, ++now);
      socket.on('error', () => {}).on('close', () => now--);
      socket.on('data', () => {});
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const silent = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const code = `
import socket, time
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'GET http://${silent}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' * 600)
time.sleep(2)`;
    const { exitCode } = await at.sh('', { command: ['python3', '-c', code], network: { hosts: [silent] } });
    slow.close();
    expect([exitCode, most]).toEqual([0, 1]);
  });

  test('[E08] no more is dialled at once than there may be connections, also for those who have left', async () => {
    let dials = 0;
    const warnings: string[] = [];
    const warn = (warning: Error) => warnings.push(warning.name);
    process.on('warning', warn);
    const dialer: Dialer = {
      dial: (_target, _access, signal) =>
        new Promise((resolve) => {
          dials++;
          signal?.addEventListener('abort', () => resolve(fail('NETWORK_ERROR', 'Not reached.')));
        }),
    };
    await using waiting = trySandbox({ path: process.env['PATH'] ?? '', dialer });
    const code = `
import socket, time
for i in range(400):
  s = socket.create_connection(('127.0.0.1', 3128))
  s.sendall(b'GET http://a.test/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); time.sleep(0.002); s.close()
time.sleep(0.5)
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT a.test:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(s.recv(100).split(b'\\r')[0])`;
    const ran = await waiting.sh('', { command: ['python3', '-c', code], network: { hosts: ['a.test'] } });
    process.off('warning', warn);
    expect([ran.stdout, dials]).toEqual(["b'HTTP/1.1 503 Service Unavailable'\n", 256]);
    expect(warnings).toEqual([]);
  });

  test('[E08] a list of hosts with an entry that means nothing is refused before anything runs', async () => {
    const { workspace, sandbox } = at;
    const request = { command: ['true'], workspace, mounts: 'read' as const, tag: 't', network: { hosts: ['*'] } };
    expect(await sandbox.run(request)).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } });
  });

  test('a processor without a filter of system calls has no sandbox', async () => {
    await using other = trySandbox({ path: process.env['PATH'] ?? '', processor: 'mips' });
    expect(await other.sandbox.status()).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
  });

  test('fails with a plain word when the sandbox was given no dialer', async () => {
    await using without = trySandbox({ path: process.env['PATH'] ?? '' });
    const { workspace, sandbox } = without;
    const result = await sandbox.run({
      command: ['true'],
      workspace,
      mounts: 'read',
      tag: 't',
      network: { hosts: ['a.b'] },
    });
    expect(result).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
  });
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  requests.push(request.url ?? '');
  if (request.url === '/hello') response.end('hello');
  else if (request.url === '/large') response.end(Buffer.alloc(5_000_000));
  else if (request.url === '/count') countBody(request, response);
  else if (request.url === '/registry/left-side') response.end(JSON.stringify(packument()));
  else if (request.url === '/registry/left-side.tgz') response.end(TARBALL);
  else response.writeHead(404).end('{}');
}

function countBody(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on('end', () => response.end(`${bytes}\n`));
}

const TARBALL = gzipSync(
  Buffer.concat([
    tarFile('package/package.json', JSON.stringify({ name: 'left-side', version: '1.0.0', main: 'index.js' })),
    tarFile('package/index.js', "module.exports = 'left';\n"),
    Buffer.alloc(1024),
  ]),
);

function packument(): unknown {
  const dist = {
    tarball: `http://${host}/registry/left-side.tgz`,
    integrity: `sha512-${createHash('sha512').update(TARBALL).digest('base64')}`,
  };
  const version = { name: 'left-side', version: '1.0.0', dist };
  return { name: 'left-side', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
}

/** One entry of a ustar archive. */
function tarFile(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  const body = Buffer.from(content);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}
