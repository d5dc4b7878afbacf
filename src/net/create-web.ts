import { messageOf } from '../kernel/error.ts';
import { fail, type Result } from '../kernel/result.ts';
import type { UrlJudge, Web, WebRequest, WebResponse } from '../kernel/world/web.ts';
import type { Caller, World } from '../kernel/world/workspace.ts';
import { createDialer, type DialerOptions } from './dialer.ts';
import type { FetchAccess, FetchOptions } from './fetch-page.ts';
import { isAllowedHost } from './hosts.ts';
import { PageCache } from './page-cache.ts';
import { createSearch } from './search/create-search.ts';
import type { SearchSettings } from './search/settings.ts';
import { createUrlGuard, portOf, type UrlGuardOptions } from './url-guard.ts';

export interface WebOptions extends UrlGuardOptions {
  /** Configured search providers. Without any, a search says how to configure one. */
  readonly search?: SearchSettings;
  /** How names are resolved and addresses connected. Default: the system. */
  readonly dialer?: DialerOptions;
  now?(): number;
  /** Certificates to trust besides those of the system. */
  readonly ca?: string;
}

export interface WebAccess {
  /** Judges a URL before any lookup; pass it to `createPolicy`. */
  readonly urls: UrlJudge;
  open(caller: Caller): Web;
}

/**
 * The web access that all calls share: one guard, one cache. Throws for an invalid list of hosts. HTTP and TLS are
 * loaded
 * on first use, because they take a noticeable part of the time of a short command.
 */
export function createWeb(options: WebOptions = {}): WebAccess {
  const { allowedHosts = [] } = options;
  const guard = createUrlGuard(options);
  const ownPorts = options.ownPorts?.bind(options) ?? (() => []);
  const dialer = createDialer({ ownPorts, ...options.dialer });
  const now = options.now ?? Date.now;
  const parts: Omit<FetchOptions, 'owner'> = {
    guard,
    now,
    cache: new PageCache(),
    dial: (url, signal) => dialer.dialHost({ host: url.hostname, port: portOf(url) }, guard.listedFor(url), signal),
    ...(options.ca !== undefined && { ca: options.ca }),
  };
  const search = createSearch(options.search ?? {}, dialer);

  return {
    urls: {
      check: guard.check,
      allowedHosts,
      isAllowed: (url) => isAllowedHost(url.hostname, portOf(url), allowedHosts),
    },
    open: (caller) => ({
      async fetch(request) {
        const access = admitted(request, caller);
        if (!access.ok) return access;
        const { fetchPage } = await import('./fetch-page.ts');
        return within(request.timeoutMs, caller.signal, request.url, (signal) =>
          fetchPage({ ...parts, owner: caller.session }, request, access.value, signal),
        );
      },
      search: (query) => search(query, caller.signal),
      async pdfText(bytes) {
        const { pdfText } = await import('./pdf-text.ts');
        return pdfText(bytes, caller.signal);
      },
    }),
  };
}

/** Adds web access to a world. */
export function withWeb<W extends World>(world: W, web: WebAccess): W {
  return { ...world, web: web.open };
}

/** Allows a call only the fetch it declared, and what policy granted with it. */
function admitted({ url, method }: WebRequest, { admitted: access }: Caller): Result<FetchAccess> {
  for (const each of access ?? []) {
    if (each.kind === 'unknown') return { ok: true, value: { kind: 'net.fetch', url, method } };
    if (each.kind === 'net.fetch' && each.url === url && each.method === method) return { ok: true, value: each };
  }
  return fail('INTERNAL', `The tool fetches ${url.slice(0, 200)}, which it did not declare.`);
}

async function within(
  timeoutMs: number,
  cancelled: AbortSignal,
  url: string,
  work: (signal: AbortSignal) => Promise<Result<WebResponse>>,
): Promise<Result<WebResponse>> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await work(AbortSignal.any([deadline, cancelled]));
  } catch (error) {
    if (cancelled.aborted) return fail('CANCELLED', 'The fetch was cancelled.');
    if (!deadline.aborted) return fail('NETWORK_ERROR', `The fetch failed: ${messageOf(error)}.`);
    const what = `${url.slice(0, 200)} did not answer completely within ${timeoutMs / 1000} s.`;
    return fail('TIMEOUT', `${what} Try again, give it a longer timeout, or fetch something else.`, { timeoutMs });
  }
}
