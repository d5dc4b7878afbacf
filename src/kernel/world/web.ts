import type { Result } from '../result.ts';

export interface WebRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange: looking up, connecting, every redirect, and the body. */
  readonly timeoutMs: number;
  /** Decoded bytes; more is TOO_LARGE. */
  readonly maxBytes: number;
}

/** An answer, whatever its status. */
export interface WebResponse {
  readonly status: number;
  /** Names in lower case; control characters are made visible. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** After redirects. */
  readonly url: string;
  /** When it was fetched, in wall-clock milliseconds, if it comes from the cache; else null. */
  readonly cachedAt: number | null;
}

export interface WebSearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface WebSearchAnswer {
  /** Which provider answered. */
  readonly provider: string;
  /** Best first; only http and https links. */
  readonly hits: readonly WebSearchHit[];
}

export interface PdfText {
  /** One text a page; empty where a page has none. */
  readonly pages: readonly string[];
  /** How many pages it has; of a long one, only the first are read. */
  readonly total: number;
}

/** Judges URLs for policy, without any lookup. */
export interface UrlJudge {
  /** INVALID_INPUT for text that is not a URL, PERMISSION_DENIED for a URL that is never fetched. */
  check(url: string): Result<URL>;
  /** Patterns of hosts that the user allows without approval. */
  readonly allowedHosts: readonly string[];
  isAllowed(url: URL): boolean;
}

/**
 * The only way a tool reaches the web. Only addresses that were checked are dialled, on every redirect again, and only
 * for the URLs that the call was admitted to fetch. PERMISSION_DENIED for an address that may not be reached,
 * NETWORK_ERROR for one that cannot, TIMEOUT, TOO_LARGE, and NOT_CONFIGURED when there is no web access.
 */
export interface Web {
  fetch(request: WebRequest): Promise<Result<WebResponse>>;
  search(query: { readonly query: string; readonly limit: number }): Promise<Result<WebSearchAnswer>>;
  /** Reads a PDF in a thread of its own, within a time and a memory. INVALID_INPUT for bytes that are not a readable PDF. */
  pdfText(bytes: Uint8Array): Promise<Result<PdfText>>;
}
