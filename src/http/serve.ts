import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Backend } from './backend.ts';
import { createApi } from './create-api.ts';
import type { Credentials } from './credentials.ts';
import { EventStreams } from './event-streams.ts';
import { type AllowedNames, allowedNames, rejectForeign } from './guard.ts';
import { OpenResponses } from './handler.ts';
import { toProblem } from './problem.ts';
import { endSlowRequests } from './slow-requests.ts';

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Takes the next free port when this one is in use. */
  readonly orNext?: boolean;
  /** Address of a reverse proxy in front of the server, such as https://tools.example.org. */
  readonly publicUrl?: string | undefined;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly mostStreamsPerToken?: number;
  readonly pages?: string | undefined;
}

export interface RunningServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Ends event streams and accepts no new request. Requests under way may finish until `drained`, and a short grace
   * after it.
   */
  close(drained?: Promise<unknown>): Promise<void>;
}

const PORTS_TRIED = 20;
const CLOSE_GRACE_MS = 2000;

/** Listens. The caller decides whether this address may be used. */
export async function serve(
  backend: Backend,
  credentials: Credentials,
  options: ServeOptions,
): Promise<Result<RunningServer>> {
  const { host = '127.0.0.1', port, orNext = false, publicUrl, tls, mostStreamsPerToken = 64, pages } = options;
  let stopping = false;
  const streams = new EventStreams(backend.ledger, { mostPerToken: mostStreamsPerToken });
  const open = new OpenResponses();
  const api = createApi({ backend, credentials, streams, open, isStopping: () => stopping, pages });
  const answer = getRequestListener(api.fetch, { overrideGlobalObjects: false });
  let doorway: AllowedNames = { hosts: new Set(), origins: new Set() };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
    if (stopping) response.setHeader('Connection', 'close');
    const away = rejectForeign(request, doorway);
    if (away === undefined) void answer(request, response);
    else sendRejection(response, away);
  };
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    connectionsCheckingInterval: 2000,
    keepAliveTimeout: 30_000,
  };
  const server = tls === undefined ? createServer(limits, handle) : createSecureServer({ ...limits, ...tls }, handle);
  endSlowRequests(server, tls === undefined ? 'connection' : 'secureConnection', {
    headMs: limits.headersTimeout,
    requestMs: limits.requestTimeout,
    idleMs: limits.keepAliveTimeout,
    unreadMs: 30_000,
  });

  const listening = await listen(server, host, { port, tries: orNext && port !== 0 ? PORTS_TRIED : 1 });
  if (!listening.ok) {
    streams.close();
    return listening;
  }
  const scheme = tls === undefined ? 'http' : 'https';
  doorway = allowedNames({ scheme, host, port: listening.value, publicUrl });
  const stop = [
    credentials.onRevoked((tokenHash) => open.cut(tokenHash)),
    backend.onLive((event) => streams.tellLive(event)),
  ];
  return ok({
    url: publicUrl?.replace(/\/+$/, '') ?? `${scheme}://${host.includes(':') ? `[${host}]` : host}:${listening.value}`,
    port: listening.value,
    async close(drained) {
      stopping = true;
      for (const each of stop) each();
      streams.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await Promise.race([closed, drained]);
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      await closed;
      clearTimeout(timer);
    },
  });
}

async function listen(
  server: ReturnType<typeof createServer>,
  host: string,
  wanted: { port: number; tries: number },
): Promise<Result<number>> {
  for (let { port, tries } = wanted; ; port++, tries--) {
    const failed = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen(port, host, () => {
        server.removeListener('error', resolve);
        resolve(undefined);
      });
    });
    if (failed === undefined) return ok((server.address() as AddressInfo).port);
    const isTaken = failed.code === 'EADDRINUSE';
    if (isTaken && tries > 1 && port < 65_535) continue;
    return isTaken ? takenPort(host, port) : cannotListen(host, port, failed);
  }
}

function takenPort(host: string, port: number): Result<never> {
  const next = 'Stop the program that uses it, or choose another with --port; --port 0 takes any free one.';
  return fail('NOT_CONFIGURED', `Port ${port} of ${host} is in use. ${next}`);
}

function cannotListen(host: string, port: number, error: unknown): Result<never> {
  const next = 'Choose another address with --host or another port with --port.';
  return fail('NOT_CONFIGURED', `The server cannot listen on ${host}:${port}: ${messageOf(error)}. ${next}`);
}

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  [
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
];

function sendRejection(
  response: ServerResponse,
  { status, code, message }: NonNullable<ReturnType<typeof rejectForeign>>,
): void {
  const problem = { ...toProblem({ code, message }), status };
  response.writeHead(status, { 'Content-Type': 'application/problem+json', Connection: 'close' });
  response.end(JSON.stringify(problem));
}
