import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { ok, type Result } from '../../kernel/result.ts';
import type { DialledConnection } from '../../kernel/world/dialer.ts';
import { createProxy } from './proxy.ts';

test.each(['GET http://far.example/', 'CONNECT far.example:443'])(
  'a connection is not kept when whoever asked for it left meanwhile: %s',
  async (request) => {
    const remote = new Duplex({ read() {}, write: (_bytes, _encoding, done) => done() });
    let answer: (dialled: Result<DialledConnection>) => void = () => {};
    const dial = (): Promise<Result<DialledConnection>> =>
      new Promise((resolve) => {
        answer = resolve;
        client.destroy();
      });
    const proxy = createProxy({ dialer: { dial }, access: { hosts: ['far.example'] }, tag: 'try' });
    const server = createServer((socket) => proxy.accept(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`${request} HTTP/1.1\r\nhost: far.example\r\n\r\n`);
    const [accepted] = (await once(server, 'connection')) as [Socket];
    await once(accepted, 'close');
    answer(ok({ socket: remote, address: '192.0.2.1' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(remote.destroyed).toBe(true);
    proxy.close();
    server.close();
  },
);
