import type { Result } from './result.ts';

export interface WebRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Decoded bytes; more is TOO_LARGE. */
  readonly maxBytes: number;
}

/** An answer, whatever its status. */
export interface WebResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** After redirects. */
  readonly url: string;
  /** When it was fetched, if it comes from the cache; else null. */
  readonly cachedAt: number | null;
}

export interface WebSearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/**
 * The only way a tool reaches the web. Only addresses that were checked are dialled, on every redirect again.
 * PERMISSION_DENIED for what may not be reached, NETWORK_ERROR for what cannot, NOT_CONFIGURED when nobody gave it.
 */
export interface Web {
  fetch(request: WebRequest): Promise<Result<WebResponse>>;
  search(query: { readonly query: string; readonly limit: number }): Promise<Result<readonly WebSearchHit[]>>;
}
