import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import { type Credential, hashToken } from './credentials.ts';
import type { ApiContext, HonoEnv } from './handler.ts';
import { type HttpFailure, problemResponse } from './problem.ts';

export interface AllowedNames {
  /** Host headers this server answers to. Any other is DNS rebinding. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of pages that may call this server: its own. */
  readonly origins: ReadonlySet<string>;
}

interface ListenAddress {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const USUAL_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Lists the names clients may use for this server: in lower case, also without the port where it is the default one.
 */
export function allowedNames({ scheme, host, port, publicUrl }: ListenAddress): AllowedNames {
  // The part after % is the zone of a link-local address, which only this machine knows.
  const own = host.includes(':') ? `[${host.replace(/%.*/, '')}]` : host;
  const named = host === '0.0.0.0' || host === '::' ? LOOPBACK : [...LOOPBACK, own];
  const addresses = [
    ...named.map((name) => `${scheme}://${name}:${port}`),
    ...(publicUrl === undefined ? [] : [publicUrl]),
  ];
  const urls = addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address));
  const withPort = (url: URL) => `${url.hostname}:${url.port || USUAL_PORTS[url.protocol]}`;
  return {
    hosts: new Set(urls.flatMap((url) => [url.host, withPort(url)])),
    origins: new Set(urls.map(({ origin }) => origin)),
  };
}

/**
 * Rejects a page of another origin, and a host name that was made to point at this machine. It runs before anything
 * else,
 * the token included. Returns undefined when the request may come in.
 */
export function rejectForeign(
  request: IncomingMessage,
  { hosts, origins }: AllowedNames,
): (HttpFailure & { status: number }) | undefined {
  const { url = '', headers, rawHeaders } = request;
  if (!url.startsWith('/')) return rejection(400, 'The request must name a path, not a full URL.');
  const named = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (named !== 1) return rejection(400, 'The request must have exactly one Host header.');
  if (!hosts.has((headers.host ?? '').toLowerCase())) {
    return rejection(421, `Unknown host. Use ${[...hosts][0]}, or set publicUrl to your host.`);
  }
  const { origin } = headers;
  if (origin !== undefined && !origins.has(origin)) {
    return rejection(403, 'Pages of another origin cannot use this server.');
  }
  const site = headers['sec-fetch-site'];
  if (
    origin === undefined &&
    (site === 'cross-site' || site === 'same-site') &&
    headers['sec-fetch-mode'] !== 'navigate'
  ) {
    return rejection(403, 'Pages of another site cannot use this server.');
  }
  return undefined;
}

function rejection(status: number, message: string): HttpFailure & { status: number } {
  return { status, code: status === 403 ? 'FORBIDDEN' : 'INVALID_INPUT', message };
}

/** Returns a function that finds the credential of a request, or the response that refuses it. */
export function createAuthenticator({ credentials, open }: ApiContext) {
  const failed = new FailedTries();
  return ({ req, env }: Context<HonoEnv>): { credential: Credential; tokenHash: string } | Response => {
    const token = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(req.header('authorization') ?? '')?.[1];
    const tokenHash = token === undefined ? '' : hashToken(token);
    const credential = token === undefined ? undefined : credentials.find(tokenHash);
    if (credential === undefined) return token === undefined ? noToken() : wrongToken(failed, env);
    open.add(tokenHash, env.outgoing);
    return { credential, tokenHash };
  };
}

const ASKS_FOR_TOKEN = { 'WWW-Authenticate': 'Bearer' };

function noToken(): Response {
  const message = 'Send the token as Authorization: Bearer TOKEN.';
  return problemResponse({ code: 'UNAUTHENTICATED', message }, ASKS_FOR_TOKEN);
}

function wrongToken(failed: FailedTries, { incoming }: HonoEnv['Bindings']): Response {
  const wait = failed.add(incoming.socket.remoteAddress ?? '');
  const message = wait === 0 ? 'Invalid or revoked token.' : `Too many wrong tokens: wait ${wait} s.`;
  if (wait === 0) return problemResponse({ code: 'UNAUTHENTICATED', message }, ASKS_FOR_TOKEN);
  return problemResponse({ code: 'TOO_MANY_REQUESTS', message }, { 'Retry-After': String(wait) });
}

const MAX_TRIES = 20;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 1000;

/** Counts wrong tokens by address. A right token always passes, so an attacker cannot lock the owner out. */
class FailedTries {
  readonly #tries = new Map<string, { count: number; since: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns the seconds to wait, or 0 while there were few wrong tokens. */
  add(address: string): number {
    const now = this.#now();
    const known = this.#tries.get(address);
    const entry = known === undefined || now - known.since > WINDOW_MS ? { count: 0, since: now } : known;
    entry.count++;
    if (this.#tries.size >= MAX_ADDRESSES && known === undefined) this.#tries.clear();
    this.#tries.set(address, entry);
    return entry.count <= MAX_TRIES ? 0 : Math.ceil((entry.since + WINDOW_MS - now) / 1000);
  }
}
