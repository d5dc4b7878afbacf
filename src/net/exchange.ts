import { isIP, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { type buildConnector, Client } from 'undici';
import type { Dialled } from '../kernel/dialer.ts';
import { type Failure, messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { readableHeaders } from './headers.ts';
import { ACCEPTED_ENCODINGS, readBody } from './read-body.ts';

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Certificates to trust besides those of the system. For tests. */
  readonly ca?: string;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Gives the connection for a request, or says why there is none. */
export type Dial = (url: URL, signal: AbortSignal) => Promise<Result<Dialled>>;

const MAX_HEADER_BYTES = 64 * 1024;

/**
 * One request and its answer over a connection of its own, which `dial` has checked and which nobody else gets. No
 * redirect is followed and no proxy is used. Aborting is a rejection: whoever holds the signal knows why.
 */
export async function exchange(dial: Dial, request: ExchangeRequest): Promise<Result<Exchanged>> {
  const { url, method, body, maxBytes, signal } = request;
  const refused: Failure[] = [];
  const client = new Client(url.origin, {
    connect: connector(dial, request, refused),
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    allowH2: false,
  });
  try {
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: { ...request.headers, 'accept-encoding': ACCEPTED_ENCODINGS },
      body: body ?? null,
      signal,
    });
    const headers = readableHeaders(answer.headers);
    const hasBody = answer.statusCode !== 204 && answer.statusCode !== 304;
    const bytes = await readBody(answer.body, hasBody ? headers : {}, maxBytes);
    if (!bytes.ok) signal.throwIfAborted();
    if (!bytes.ok) return bytes;
    return ok({ status: answer.statusCode, headers, bytes: bytes.value });
  } catch (error) {
    signal.throwIfAborted();
    const [failure] = refused;
    if (failure !== undefined) return { ok: false, error: failure };
    return fail('NETWORK_ERROR', `${url.host} gave no answer that can be read: ${reasonOf(error)}`);
  } finally {
    client.destroy().catch(() => {});
  }
}

function connector(dial: Dial, request: ExchangeRequest, refused: Failure[]): buildConnector.connector {
  const { url, signal } = request;
  return (_options, done) => {
    dial(url, signal).then(
      (dialled) => {
        if (!dialled.ok) {
          refused.push(dialled.error);
          return done(new Error(dialled.error.message), null);
        }
        const socket = dialled.value.socket as unknown as Socket;
        return url.protocol === 'https:' ? secured(socket, request, done) : done(null, socket);
      },
      (error) => done(error instanceof Error ? error : new Error(messageOf(error)), null),
    );
  };
}

function secured(socket: Socket, { url, signal, ca }: ExchangeRequest, done: buildConnector.Callback): void {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const names = isIP(host) === 0 ? { host, servername: host } : { host };
  const secure = tlsConnect({ socket, ...names, ALPNProtocols: ['http/1.1'], ...(ca !== undefined && { ca }) });
  // A handshake that stands still ends with the request, not with the process.
  const onAbort = () => secure.destroy(new Error('it took too long'));
  const onError = (error: Error) => {
    signal.removeEventListener('abort', onAbort);
    done(error, null);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  secure.once('error', onError);
  secure.once('secureConnect', () => {
    signal.removeEventListener('abort', onAbort);
    secure.off('error', onError);
    done(null, secure);
  });
}

/** What went wrong, in words that say what to try. */
function reasonOf(error: unknown): string {
  const { code = '' } = (error ?? {}) as { code?: string };
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return `its headers are larger than ${MAX_HEADER_BYTES / 1024} KB.`;
  if (code.startsWith('HPE_')) return `it does not speak HTTP correctly (${messageOf(error)}).`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|SSL|TLS/.test(code)) {
    return `its certificate or encryption is not trusted (${messageOf(error)}).`;
  }
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') return `the connection was closed (${messageOf(error)}).`;
  return `${messageOf(error)}.`;
}
