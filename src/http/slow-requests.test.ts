import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestCertificate } from '../testing/test-certificate.ts';
import { endSlowRequests } from './slow-requests.ts';

const LARGE = Buffer.alloc(48 * 1024 * 1024, 97);
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

describe.each(['http', 'https'])('a connection with %s', (scheme) => {
  async function listen(answer: RequestListener, unreadMs = 200) {
    const isPlain = scheme === 'http';
    const server = isPlain ? createServer(answer) : createSecureServer(createTestCertificate(['localhost']), answer);
    const patience = { headMs: 60_000, requestMs: 60_000, idleMs: 60_000, unreadMs };
    endSlowRequests(server, isPlain ? 'connection' : 'secureConnection', patience);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(
      () => server.close(),
      () => server.closeAllConnections(),
    );
    const to = { port: (server.address() as AddressInfo).port, host: '127.0.0.1', rejectUnauthorized: false };
    return {
      open: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
      client(): Socket {
        const socket = isPlain ? connect(to) : connectSecurely(to);
        socket.on('error', () => {});
        closing.push(() => socket.destroy());
        return socket;
      },
    };
  }

  test('ends when nobody reads its answer, also where more requests trickle in', async () => {
    const { client, open } = await listen((_, response) => response.end(LARGE));
    const socket = client().pause();
    socket.write(GET);
    await expect.poll(open).toBe(1);
    socket.write('GET / HTTP/1.1\r\nX: ');
    const trickle = setInterval(() => socket.write('x'), 50);
    closing.push(() => clearInterval(trickle));
    await expect.poll(open, { timeout: 5000 }).toBe(0);
  });

  test('stays while its answer is read slowly', async () => {
    const { client } = await listen((_, response) => response.end(LARGE), 1000);
    const socket = client();
    let read = 0;
    socket.on('data', (chunk) => {
      read += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), chunk.length / 15_000);
    });
    socket.write(GET);
    await expect.poll(() => read, { timeout: 30_000 }).toBeGreaterThan(LARGE.length);
    expect(socket.destroyed).toBe(false);
  }, 40_000);

  test('stays while an answer is made, and for the next request', async () => {
    let asked = 0;
    const { client } = await listen((_, response) => {
      asked++;
      setTimeout(() => response.end(`answer ${asked}`), 900);
    });
    const socket = client();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    for (const count of [1, 2]) {
      socket.write(GET);
      await expect.poll(() => text, { timeout: 5000 }).toContain(`answer ${count}`);
      await delay(500);
    }
    expect(socket.destroyed).toBe(false);
  });

  test('stays while the first of two answers is made, whatever waits behind it', async () => {
    let asked = 0;
    const { client } = await listen((_, response) => {
      asked++;
      if (asked === 2) response.end(LARGE);
      else setTimeout(() => response.end('first'), 900);
    }, 400);
    const socket = client();
    let read = 0;
    socket.on('data', (chunk) => {
      read += chunk.length;
    });
    socket.write(GET + GET);
    await expect.poll(() => read, { timeout: 10_000 }).toBeGreaterThan(LARGE.length);
    expect(socket.destroyed).toBe(false);
  });
});
