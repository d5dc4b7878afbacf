import type { Exchanged } from './exchange.ts';

/** A page that was fetched. */
export interface Page extends Exchanged {
  readonly fetchedAt: number;
}

const LONGEST_MS = 15 * 60 * 1000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Pages of the last 15 minutes, the oldest forgotten first. What the server says about keeping is obeyed; what it says
 * nothing about is fresh for the whole time. Every request for them is the same, so `Vary` matters only as `*`.
 */
export class PageCache {
  readonly #pages = new Map<string, Page>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** `fresh` may be used as it is, `stale` only if the server says that it has not changed. */
  find(url: string, now: number): { page: Page; state: 'fresh' | 'stale' } | undefined {
    const page = this.#pages.get(url);
    if (page === undefined) return undefined;
    const age = now - page.fetchedAt;
    if (age < freshFor(page)) return { page, state: 'fresh' };
    if (age < LONGEST_MS && isValidated(page)) return { page, state: 'stale' };
    this.forget(url);
    return undefined;
  }

  keep(url: string, page: Page): void {
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

/** How to ask whether a page has changed. */
export function validators({ headers }: Page): Record<string, string> {
  const [tag, modified] = [headers['etag'], headers['last-modified']];
  if (tag !== undefined) return { 'if-none-match': tag };
  return modified === undefined ? {} : { 'if-modified-since': modified };
}

function isValidated(page: Page): boolean {
  return Object.keys(validators(page)).length > 0;
}

function freshFor({ headers, fetchedAt }: Page): number {
  const control = headers['cache-control'] ?? '';
  if (/no-cache/i.test(control || (headers['pragma'] ?? ''))) return 0;
  const seconds = /max-age="?(\d{1,9})/i.exec(control)?.[1];
  const age = (Number(headers['age']) || 0) * 1000;
  const allowed = seconds === undefined ? untilExpiry(headers, fetchedAt) : Number(seconds) * 1000;
  return Math.max(0, Math.min(allowed - age, LONGEST_MS));
}

/** By the server's own clock, where it tells the time. What is no date, such as 0, is over. */
function untilExpiry(headers: Page['headers'], fetchedAt: number): number {
  const expires = headers['expires'];
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const sent = Date.parse(headers['date'] ?? '');
  return (Date.parse(expires) || 0) - (Number.isNaN(sent) ? fetchedAt : sent);
}
