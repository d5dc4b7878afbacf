import type { HttpExchange } from './exchange.ts';

/** A page that was fetched. */
export interface CachedPage extends HttpExchange {
  readonly fetchedAt: number;
}

const MAX_AGE_MS = 15 * 60 * 1000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Pages of the last 15 minutes, oldest evicted first. The server's cache headers are obeyed; without any, a page is
 * fresh
 * for the whole time. All requests are alike, so `Vary` matters only as `*`.
 */
export class PageCache {
  readonly #pages = new Map<string, CachedPage>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** A `fresh` page may be used directly, a `stale` one only if the server confirms it. */
  find(url: string, now: number): { page: CachedPage; state: 'fresh' | 'stale' } | undefined {
    const page = this.#pages.get(url);
    if (page === undefined) return undefined;
    const age = now - page.fetchedAt;
    if (age < freshFor(page)) return { page, state: 'fresh' };
    if (age < MAX_AGE_MS && isValidated(page)) return { page, state: 'stale' };
    this.forget(url);
    return undefined;
  }

  keep(url: string, page: CachedPage): void {
    this.forget(url);
    const { status, headers, bytes } = page;
    if (status !== 200 || /no-store/i.test(headers['cache-control'] ?? '') || headers['vary']?.includes('*')) return;
    if (bytes.length > this.#maxBytes / 4 || (freshFor(page) === 0 && !isValidated(page))) return;
    this.#pages.set(url, page);
    this.#bytes += bytes.length;
    for (const [oldest] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) break;
      this.forget(oldest);
    }
  }

  forget(url: string): void {
    this.#bytes -= this.#pages.get(url)?.bytes.length ?? 0;
    this.#pages.delete(url);
  }
}

/** Headers that ask whether a page has changed. */
export function validators({ headers }: CachedPage): Record<string, string> {
  const [tag, modified] = [headers['etag'], headers['last-modified']];
  if (tag !== undefined) return { 'if-none-match': tag };
  return modified === undefined ? {} : { 'if-modified-since': modified };
}

function isValidated(page: CachedPage): boolean {
  return Object.keys(validators(page)).length > 0;
}

function freshFor({ headers, fetchedAt }: CachedPage): number {
  const control = headers['cache-control'] ?? '';
  if (/no-cache/i.test(control || (headers['pragma'] ?? ''))) return 0;
  const seconds = /max-age="?(\d{1,9})/i.exec(control)?.[1];
  const age = (Number(headers['age']) || 0) * 1000;
  const allowed = seconds === undefined ? untilExpiry(headers, fetchedAt) : Number(seconds) * 1000;
  return Math.max(0, Math.min(allowed - age, MAX_AGE_MS));
}

/** Time until expiry by the server's own clock, where it sends one. An invalid date, such as 0, counts as expired. */
function untilExpiry(headers: CachedPage['headers'], fetchedAt: number): number {
  const expires = headers['expires'];
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const sent = Date.parse(headers['date'] ?? '');
  return (Date.parse(expires) || 0) - (Number.isNaN(sent) ? fetchedAt : sent);
}
