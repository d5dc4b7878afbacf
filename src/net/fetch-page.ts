import { fail, ok, type Result } from '../kernel/result.ts';
import type { Access } from '../kernel/tool/access.ts';
import type { WebRequest, WebResponse } from '../kernel/world/web.ts';
import { type Dial, type ExchangeRequest, exchange } from './exchange.ts';
import { checkHeaders, harmlessOnly } from './headers.ts';
import { isAmong } from './hosts.ts';
import { type PageCache, validators } from './page-cache.ts';
import { portOf, type UrlGuard } from './url-guard.ts';

export type FetchAccess = Extract<Access, { kind: 'net.fetch' }>;

export interface FetchOptions {
  readonly guard: UrlGuard;
  readonly dial: Dial;
  readonly cache: PageCache;
  /** Owner of the cached pages: one session's permission to fetch does not extend to another. */
  readonly owner: string;
  now(): number;
  readonly ca?: string;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const OWN_HEADERS = {
  'user-agent': 'Toolwright',
  accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, */*;q=0.5',
};

/**
 * check → cache → dial → answer, and from the start again for every redirect. A redirect is followed only where the
 * call may go. Rejects only when the signal aborts.
 */
export async function fetchPage(
  parts: FetchOptions,
  request: WebRequest,
  access: FetchAccess,
  signal: AbortSignal,
): Promise<Result<WebResponse>> {
  const first = parts.guard.check(request.url);
  if (!first.ok) return first;
  const given = checkHeaders(request.headers ?? {});
  if (!given.ok) return given;
  const isCacheable = request.method === 'GET' && Object.keys(given.value).length === 0;
  let url = first.value;
  let [method, body] = [request.method, request.body];
  let headers: Record<string, string> = { ...OWN_HEADERS, ...given.value };
  for (let redirects = 0; ; redirects++) {
    const { maxBytes } = request;
    const hop = { url, method, headers, body, maxBytes, signal, ...(parts.ca !== undefined && { ca: parts.ca }) };
    const answer = await (isCacheable ? cached(parts, hop) : uncached(parts, hop));
    if (!answer.ok) return answer;
    const { status } = answer.value;
    const location = answer.value.headers['location'];
    if (!REDIRECTS.includes(status) || location === undefined) return ok({ ...answer.value, url: url.href });

    if (redirects === MAX_REDIRECTS) return tooMany(first.value);
    const next = nextHop(parts.guard, url, location, access);
    if (!next.ok) return next;
    const keepsMethod = status === 307 || status === 308 || method === 'GET';
    if (!keepsMethod) [method, body] = ['GET', undefined];
    const { 'content-type': _dropped, ...withoutType } = headers;
    if (!keepsMethod) headers = withoutType;
    if (next.value.origin !== url.origin) headers = harmlessOnly(headers);
    url = next.value;
  }
}

type FetchedPage = Omit<WebResponse, 'url'>;

/** Looks a page up by URL. Redirects are checked every time, and a tag is sent only to the URL it came from. */
async function cached(parts: FetchOptions, hop: ExchangeRequest): Promise<Result<FetchedPage>> {
  const { cache } = parts;
  const key = cacheKey(parts, hop.url);
  const known = cache.find(key, parts.now());
  if (known?.state === 'fresh') return ok({ ...known.page, cachedAt: known.page.fetchedAt });
  const headers = { ...hop.headers, ...(known !== undefined && validators(known.page)) };
  const answer = await exchange(parts.dial, { ...hop, headers });
  if (!answer.ok) return answer;
  if (answer.value.status === 304 && known !== undefined) {
    const { page } = known;
    cache.keep(key, { ...page, headers: { ...page.headers, ...answer.value.headers }, fetchedAt: parts.now() });
    return ok({ ...page, cachedAt: page.fetchedAt });
  }
  cache.keep(key, { ...answer.value, fetchedAt: parts.now() });
  return ok({ ...answer.value, cachedAt: null });
}

/** Fetches without the cache and drops the cached page, which the request may have changed. */
async function uncached(parts: FetchOptions, hop: ExchangeRequest): Promise<Result<FetchedPage>> {
  if (hop.method !== 'GET') parts.cache.forget(cacheKey(parts, hop.url));
  const answer = await exchange(parts.dial, hop);
  return answer.ok ? ok({ ...answer.value, cachedAt: null }) : answer;
}

function cacheKey({ owner }: FetchOptions, { origin, pathname, search }: URL): string {
  return JSON.stringify([owner, `${origin}${pathname}${search}`]);
}

function nextHop(guard: UrlGuard, from: URL, location: string, access: FetchAccess): Result<URL> {
  if (!URL.canParse(location, from.href)) {
    return fail('NETWORK_ERROR', `${from.host} redirects to an invalid URL: ${quoted(location)}`);
  }
  const next = guard.check(new URL(location, from.href));
  if (!next.ok) {
    const where = `${from.host} redirects to ${quoted(location)}, which is not followed.`;
    return fail('PERMISSION_DENIED', `${where} ${next.error.message}`, { redirect: location.slice(0, 500) });
  }
  if (isCovered(next.value, access)) return next;
  const where = `${from.host} redirects to ${next.value.host}, which was not allowed.`;
  return fail('PERMISSION_DENIED', `${where} To go there, fetch ${next.value.href.slice(0, 500)} itself.`, {
    redirect: next.value.href.slice(0, 500),
  });
}

/** Whether the URL has the judged host, or one that policy granted for redirects. */
function isCovered(url: URL, { url: asked, redirects }: FetchAccess): boolean {
  const own = new URL(asked);
  if (url.hostname === own.hostname && (url.port === own.port || isWebPort(url))) return true;
  if (redirects === undefined || isAmong(url.hostname, portOf(url), redirects.notTo)) return false;
  return isAmong(url.hostname, portOf(url), redirects.to);
}

function isWebPort(url: URL): boolean {
  return portOf(url) === 80 || portOf(url) === 443;
}

function tooMany(url: URL): Result<never> {
  return fail('NETWORK_ERROR', `${url.href.slice(0, 200)} redirects more than ${MAX_REDIRECTS} times.`);
}

/** Quotes a server's text safely. */
function quoted(location: string): string {
  return JSON.stringify(location.slice(0, 200));
}
