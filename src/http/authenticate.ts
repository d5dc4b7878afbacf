import type { Context } from 'hono';
import { type Credential, hashToken } from './credentials.ts';
import type { ApiContext, HonoEnv } from './handler.ts';
import { problemResponse } from './problem.ts';

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
