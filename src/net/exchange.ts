import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { DialledConnection } from '../kernel/world/dialer.ts';
import { readableHeaders } from './headers.ts';
import { ACCEPTED_ENCODINGS, readBody } from './read-body.ts';

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Certificates to trust instead of those of the system. For tests. */
  readonly ca?: string;
}

export interface HttpExchange {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Returns the connection for a request, or why there is none. */
export type Dial = (url: URL, signal: AbortSignal) => Promise<Result<DialledConnection>>;

const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Sends one request over a connection of its own, which `dial` has checked. No redirect is followed and no proxy is
 * used.
 * Rejects only when the signal aborts; its owner knows the reason.
 */
export async function exchange(dial: Dial, request: ExchangeRequest): Promise<Result<HttpExchange>> {
  const { url, signal, maxBytes } = request;
  const dialled = await unlessAborted(dial(url, signal), signal);
  if (!dialled.ok) return dialled;
  const socket = dialled.value.socket as unknown as Socket;
  const hangUp = () => socket.destroy();
  signal.addEventListener('abort', hangUp, { once: true });
  socket.on('error', () => {});
  try {
    const line = url.protocol === 'https:' ? await secured(socket, request) : socket;
    const answer = await answerOn(line, request);
    const status = answer.statusCode ?? 0;
    const headers = readableHeaders(answer.headers);
    const hasBody = status !== 204 && status !== 304;
    const bytes = await readBody(answer, hasBody ? headers : {}, maxBytes);
    signal.throwIfAborted();
    return bytes.ok ? ok({ status, headers, bytes: bytes.value }) : bytes;
  } catch (error) {
    signal.throwIfAborted();
    return fail('NETWORK_ERROR', `${url.host} sent an unreadable answer: ${reasonOf(error)}`);
  } finally {
    signal.removeEventListener('abort', hangUp);
    hangUp();
  }
}

/** Stops waiting for a slow name server at the deadline; a connection it still yields is closed. */
function unlessAborted(
  dialling: Promise<Result<DialledConnection>>,
  signal: AbortSignal,
): Promise<Result<DialledConnection>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    dialling.then((dialled) => {
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted && dialled.ok) dialled.value.socket.destroy();
      resolve(dialled);
    }, reject);
  });
}

function secured(socket: Socket, { url, ca }: ExchangeRequest): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const names = isIP(host) === 0 ? { host, servername: host } : { host };
  return new Promise((resolve, reject) => {
    const secure = tlsConnect({ socket, ...names, ALPNProtocols: ['http/1.1'], ...(ca !== undefined && { ca }) });
    secure.once('secureConnect', () => resolve(secure));
    secure.once('close', () => reject(new Error('the connection was closed')));
    secure.on('error', reject);
  });
}

function answerOn(socket: Socket, { url, method, headers, body }: ExchangeRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      createConnection: () => socket,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...headers, host: url.host, 'accept-encoding': ACCEPTED_ENCODINGS },
      maxHeaderSize: MAX_HEADER_BYTES,
      // Servers send control characters in headers, which we make visible. A lenient parser is dangerous only with a
      // second
      // response on the same connection, and here there is none.
      insecureHTTPParser: true,
    });
    sent.once('response', resolve);
    sent.on('error', reject);
    sent.once('close', () => reject(new Error('the connection was closed without an answer')));
    sent.end(body);
  });
}

/** Explains a network error, with something to try. */
function reasonOf(error: unknown): string {
  const { code = '' } = (error ?? {}) as { code?: string };
  if (code === 'HPE_HEADER_OVERFLOW') return `its headers are larger than ${MAX_HEADER_BYTES / 1024} KB.`;
  if (code.startsWith('HPE_')) return `it does not speak HTTP correctly (${messageOf(error)}).`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|SSL|TLS/.test(code)) {
    return `its certificate or encryption is not trusted (${messageOf(error)}).`;
  }
  if (code === 'ECONNRESET') return `the connection was closed (${messageOf(error)}).`;
  return `${messageOf(error)}.`;
}
