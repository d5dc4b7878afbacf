import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { DialerOptions } from '../net/dialer.ts';
import { createTestCertificate } from './test-certificate.ts';

type Names = Readonly<Record<string, readonly string[] | ((lookup: number) => readonly string[])>>;

export interface StubInternet extends AsyncDisposable {
  /** For `createWeb`: the given names, and every address leads to the local server. */
  readonly dialer: DialerOptions;
  /** For `createWeb`: certificate of the server. */
  readonly ca: string;
  /** Dialled connections as `address:port`. No packet leaves the machine. */
  readonly dialled: string[];
  readonly lookups: string[];
  /** Requests as `GET http://host/path`, with their headers. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

const PUBLIC = '93.184.216.34';

/** A stand-in for the internet on loopback: real sockets, real HTTP and TLS; only names and addresses are invented. */
export async function createStubInternet(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  names: Names = {},
): Promise<StubInternet> {
  const requests: StubInternet['requests'] = [];
  const listener: (scheme: string) => RequestListener = (scheme) => (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const line = `${request.method} ${scheme}://${request.headers.host}${request.url}`;
      requests.push({ line, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      answer(request, response);
    });
  };
  const hosts = [...Object.keys(names), 'allowed.test', '*.allowed.test', 'pub.test'];
  const { key, cert } = createTestCertificate(hosts);
  const servers = [createServer(listener('http')), createSecureServer({ key, cert }, listener('https'))] as const;
  const [plain, secure] = await Promise.all(servers.map(listen));
  const [dialled, lookups]: [string[], string[]] = [[], []];

  return {
    ca: cert,
    dialled,
    lookups,
    requests,
    dialer: {
      async resolve(host) {
        lookups.push(host);
        const known = Object.hasOwn(names, host) ? names[host] : undefined;
        if (typeof known === 'function') return known(lookups.filter((each) => each === host).length);
        return known ?? [PUBLIC];
      },
      connect(address, port): Socket {
        dialled.push(`${address}:${port}`);
        return connect((port === 443 ? secure : plain) ?? 0, '127.0.0.1');
      },
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listen(server: Server): Promise<number> {
  server.on('clientError', (_error, socket) => socket.destroy());
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
