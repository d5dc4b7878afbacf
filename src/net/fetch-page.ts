import type { Access } from '../kernel/access.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { WebRequest, WebResponse } from '../kernel/web.ts';
import { type Dial, type Exchanged, exchange } from './exchange.ts';
import { checkHeaders, harmlessOnly } from './headers.ts';
import { isAmong } from './hosts.ts';
import { type Page, type PageCache, validators } from './page-cache.ts';
import { portOf, type UrlGuard } from './url-guard.ts';

export type FetchAccess = Extract<Access, { kind: 'net.fetch' }>;

export interface FetchParts {
  readonly guard: UrlGuard;
  readonly dial: Dial;
  readonly cache: PageCache;
  now(): number;
  readonly ca?: string;
}

const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const OWN_HEADERS = {
  'user-agent': 'Toolwright',
  accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, */*;q=0.5',
};

/**
 * check → cache → dial → answer, and from the start again for every redirect. A redirect leads only where the call was
 * granted to go. Rejects only when the signal is aborted.
 */
export async function fetchPage(
  parts: FetchParts,
  request: WebRequest,
  access: FetchAccess,
  signal: AbortSignal,
): Promise<Result<WebResponse>> {
  const first = parts.guard.check(request.url);
  if (!first.ok) return first;
  const headers = checkHeaders(request.headers ?? {});
  if (!headers.ok) return headers;
  const isCacheable = request.method === 'GET' && Object.keys(headers.value).length === 0;
  const found = isCacheable ? parts.cache.find(first.value.href, parts.now()) : undefined;
  const known = found !== undefined && isGranted(parts.guard, found.page.hops, access) ? found : undefined;
  if (known?.state === 'fresh') return ok(toResponse(known.page, known.page.fetchedAt));

  const sent = { ...OWN_HEADERS, ...headers.value, ...(known !== undefined && validators(known.page)) };
  const fetched = await follow(parts, { ...request, headers: sent }, access, { url: first.value, signal });
  if (!fetched.ok) return fetched;
  const { hops, ...answer } = fetched.value;
  if (answer.status === 304 && known !== undefined) {
    const page = { ...known.page, headers: { ...known.page.headers, ...answer.headers }, fetchedAt: parts.now() };
    parts.cache.keep(first.value.href, page);
    return ok(toResponse(page, known.page.fetchedAt));
  }
  const page = { ...answer, hops, fetchedAt: parts.now() };
  if (isCacheable) parts.cache.keep(first.value.href, page);
  return ok(toResponse(page, null));
}

async function follow(
  parts: FetchParts,
  request: WebRequest,
  access: FetchAccess,
  { url: first, signal }: { url: URL; signal: AbortSignal },
): Promise<Result<Exchanged & { hops: readonly string[] }>> {
  const { maxBytes } = request;
  let [url, method, headers, body] = [first, request.method, request.headers ?? {}, request.body];
  const hops = [url.href];
  for (;;) {
    const common = { maxBytes, signal, ...(parts.ca !== undefined && { ca: parts.ca }) };
    const answer = await exchange(parts.dial, { url, method, headers, body, ...common });
    if (!answer.ok) return answer;
    const { status } = answer.value;
    const location = answer.value.headers['location'];
    if (!REDIRECTS.includes(status) || location === undefined) return ok({ ...answer.value, hops });

    if (hops.length > MOST_REDIRECTS) return tooMany(first);
    const next = nextHop(parts.guard, url, location, access);
    if (!next.ok) return next;
    const keepsMethod = status === 307 || status === 308 || method === 'GET';
    if (!keepsMethod) [method, body] = ['GET', undefined];
    const { 'content-type': _dropped, ...withoutType } = headers;
    if (!keepsMethod) headers = withoutType;
    if (next.value.origin !== url.origin) headers = harmlessOnly(headers);
    url = next.value;
    hops.push(url.href);
  }
}

function nextHop(guard: UrlGuard, from: URL, location: string, access: FetchAccess): Result<URL> {
  if (!URL.canParse(location, from.href)) {
    return fail('NETWORK_ERROR', `${from.host} redirects to what is not a URL: ${location.slice(0, 200)}`);
  }
  const next = guard.check(new URL(location, from.href));
  if (!next.ok) {
    const where = `${from.host} redirects to ${location.slice(0, 200)}, and that is not followed.`;
    return fail('PERMISSION_DENIED', `${where} ${next.error.message}`, { redirect: location.slice(0, 500) });
  }
  if (isCovered(next.value, access)) return next;
  const where = `${from.host} redirects to ${next.value.host}, which was not allowed with it.`;
  return fail('PERMISSION_DENIED', `${where} To go there, fetch ${next.value.href.slice(0, 500)} itself.`, {
    redirect: next.value.href.slice(0, 500),
  });
}

/** The host that was judged, or one that policy granted to redirects. */
function isCovered(url: URL, { url: asked, redirects }: FetchAccess): boolean {
  const own = new URL(asked);
  if (url.hostname === own.hostname && (url.port === own.port || isWebPort(url))) return true;
  if (redirects === undefined || isAmong(url.hostname, redirects.notTo)) return false;
  return isAmong(url.hostname, redirects.to);
}

function isWebPort(url: URL): boolean {
  return portOf(url) === 80 || portOf(url) === 443;
}

/** A page from the cache may have come by hosts that this call may not use. */
function isGranted(guard: UrlGuard, hops: readonly string[], access: FetchAccess): boolean {
  return hops.every((hop) => guard.check(hop).ok && isCovered(new URL(hop), access));
}

function tooMany(url: URL): Result<never> {
  return fail(
    'NETWORK_ERROR',
    `${url.href.slice(0, 200)} redirects more than ${MOST_REDIRECTS} times; it was given up.`,
  );
}

function toResponse({ status, headers, bytes, hops }: Page, cachedAt: number | null): WebResponse {
  return { status, headers, bytes, url: hops.at(-1) ?? '', cachedAt };
}
